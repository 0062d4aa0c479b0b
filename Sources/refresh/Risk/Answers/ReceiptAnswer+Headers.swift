internal import AppAttest

/// Headers of an answer: read within limits, or not at all.
extension ReceiptAnswer {
    private static let mostRetryDigits = 10

    /// - Parameter name: in small letters.
    static func value(_ name: String, of headers: [(name: String, value: [UInt8])]) -> [UInt8]? {
        headers.last { $0.name.lowercased() == name }?.value
    }

    /// Seconds, or a date (RFC 9110 section 10.2.3).
    static func retryAfter(_ value: [UInt8], at time: EvaluationTime) -> Int64? {
        if let seconds = Milliseconds.number(HeaderText.trimmed(value), mostDigits: mostRetryDigits) {
            return seconds * Milliseconds.second
        }
        return HTTPDate.time(value).map { max(0, $0.since(time)) }
    }

    static func traceID(_ value: [UInt8]) -> [UInt8]? {
        [16, 32].contains(value.count) && Hexadecimal.decode(value) != nil ? value : nil
    }
}

/// Bytes of a text of ASCII, as HTTP has them.
enum HeaderText {
    /// The text without white space around it.
    static func trimmed(_ text: [UInt8]) -> ArraySlice<UInt8> {
        guard let first = text.firstIndex(where: isText), let last = text.lastIndex(where: isText) else { return [] }
        return text[first...last]
    }

    private static func isText(_ byte: UInt8) -> Bool { byte != 0x20 && !(0x09...0x0D).contains(byte) }
}

/// Dates of HTTP in the one form that servers send: `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110 section 5.6.7).
enum HTTPDate {
    private static let days: [String] = ["Mon,", "Tue,", "Wed,", "Thu,", "Fri,", "Sat,", "Sun,"]
    private static let months: [String] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// - Returns: nil for any other spelling. Whether the day of the week is right is not asked.
    static func time(_ value: [UInt8]) -> EvaluationTime? {
        let parts = HeaderText.trimmed(value).split(separator: 0x20, omittingEmptySubsequences: false)
        let words = parts.map { String(decoding: $0, as: UTF8.self) }
        guard parts.map(\.count) == [4, 2, 3, 4, 8, 3], days.contains(words[0]), words[5] == "GMT",
            let month = months.firstIndex(of: words[2])
        else { return nil }
        let number = month < 9 ? "0\(month + 1)" : "\(month + 1)"
        // The same time as a receipt would spell it, which is read strictly.
        let spelled = Array("\(words[3])-\(number)-\(words[1])T\(words[4])Z".utf8)
        return ReceiptDate.time(spelled.indices, spelled.span)
    }
}
