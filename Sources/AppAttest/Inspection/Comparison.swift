/// A value that is presented, beside what a check expects there.
package struct Comparison: Sendable, Equatable {
    package let name: String
    package let presented: ReportValue
    package let expected: ReportValue

    package init(_ name: String, _ presented: ReportValue, expected: ReportValue) {
        self.name = name
        self.presented = presented
        self.expected = expected
    }

    package init(_ name: String, _ presented: String, expected: String) {
        self.init(name, .text(presented), expected: .text(expected))
    }
}

/// What is shown in place of a value that is not there.
extension ReportValue {
    static let absent = ReportValue.text("absent")
    static let unreadable = ReportValue.text("unreadable")

    /// The first bytes of an object that cannot be read: they show what was sent in its place.
    static func beginning(_ bytes: [UInt8]) -> String {
        bytes.isEmpty ? "empty" : "beginning with \(ReportValue.bytes(Array(bytes.prefix(16))))"
    }

    static func list(_ values: [String], none: String = "none") -> ReportValue {
        guard let first = values.first else { return .text(none) }
        return .text(values.count == 1 ? first : "one of " + values.joined(separator: ", "))
    }
}
