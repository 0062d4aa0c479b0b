internal import AppAttest

/// Bytes of a text of ASCII, as HTTP has them.
enum HeaderText {
    /// The text without white space around it.
    static func trimmed(_ text: Span<UInt8>) -> Range<Int> {
        var (start, end) = (0, text.count)
        while start < end, isSpace(text[start]) { start += 1 }
        while start < end, isSpace(text[end - 1]) { end -= 1 }
        return start..<end
    }

    static func holds(_ expected: String, _ text: Span<UInt8>) -> Bool {
        let expected = expected.utf8Span.span
        guard expected.count == text.count else { return false }
        for index in text.indices where text[index] != expected[index] { return false }
        return true
    }

    /// Whether two header names are the same, whatever the case of their ASCII letters.
    static func isSameName(_ left: String, _ right: String) -> Bool {
        let (left, right) = (left.utf8Span.span, right.utf8Span.span)
        guard left.count == right.count else { return false }
        for index in left.indices where lowercased(left[index]) != lowercased(right[index]) { return false }
        return true
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

    private static func lowercased(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }
}

/// Dates of HTTP in the one form that servers send: `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110 section 5.6.7).
enum HTTPDate {
    private static let byteCount = 29
    private static let months: [String] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
    private static let days: [String] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]

    /// - Returns: nil for any other spelling. Whether the day of the week is right is not asked.
    static func time(_ value: Span<UInt8>) -> EvaluationTime? {
        let text = value.extracting(HeaderText.trimmed(value))
        guard text.count == byteCount, days.contains(where: { HeaderText.holds($0, text.extracting(0..<3)) }),
            HeaderText.holds(", ", text.extracting(3..<5)), HeaderText.holds(" GMT", text.extracting(25..<29)),
            let month = months.firstIndex(where: { HeaderText.holds($0, text.extracting(8..<11)) }),
            [7, 11, 16].allSatisfy({ text[$0] == 0x20 })
        else { return nil }
        func part(_ range: Range<Int>) -> [UInt8] { range.map { text[$0] } }
        let number = month + 1
        let digits = [UInt8(ascii: "0") + UInt8(number / 10), UInt8(ascii: "0") + UInt8(number % 10)]
        let dash = UInt8(ascii: "-")
        // The same time as a receipt would spell it, which is read strictly.
        let date = part(12..<16) + [dash] + digits + [dash] + part(5..<7)
        let spelled = date + [UInt8(ascii: "T")] + part(17..<25) + [UInt8(ascii: "Z")]
        return ReceiptDate.time(spelled.indices, spelled.span)
    }
}
