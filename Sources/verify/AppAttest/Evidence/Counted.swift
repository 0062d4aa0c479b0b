/// Numbers of things, as messages and reports write them.
package enum Counted {
    /// `1 record`, `2 records`, `12,000 records`.
    package static func text(_ count: Int, _ noun: String) -> String {
        "\(grouped(count)) \(noun)\(count == 1 ? "" : "s")"
    }

    /// A number with commas between groups of three digits.
    package static func grouped(_ number: Int) -> String {
        let digits = Array(String(number.magnitude))
        var text = number < 0 ? "-" : ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index) % 3 == 0 { text += "," }
            text.append(digit)
        }
        return text
    }

    /// Digits with zeros in front, up to a width.
    package static func padded(_ digits: String, _ width: Int) -> String {
        String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }
}
