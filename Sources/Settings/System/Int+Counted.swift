internal import AppAttest

extension Int {
    /// The number with commas between groups of three digits.
    package var grouped: String { Counted.grouped(self) }

    /// `1 record`, `2 records`.
    package func counted(_ noun: String) -> String { Counted.text(self, noun) }

    /// `1 record was`, `2 records were`.
    package func counted(_ noun: String, _ one: String, _ many: String) -> String {
        "\(counted(noun)) \(self == 1 ? one : many)"
    }
}
