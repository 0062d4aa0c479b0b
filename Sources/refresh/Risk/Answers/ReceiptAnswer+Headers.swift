internal import AppAttest

/// Headers of an answer: read within limits, or not at all.
extension ReceiptAnswer {
    private static let mostRetryDigits = 10

    static func value(_ name: String, of headers: [(name: String, value: [UInt8])]) -> [UInt8]? {
        headers.last { HeaderText.isSameName($0.name, name) }?.value
    }

    /// Seconds, or a date (RFC 9110 section 10.2.3).
    static func retryAfter(_ value: [UInt8], at time: EvaluationTime) -> Int64? {
        let bytes = value.span
        let text = bytes.extracting(HeaderText.trimmed(bytes))
        if let seconds = Milliseconds.number(text, mostDigits: mostRetryDigits) {
            return seconds * Milliseconds.second
        }
        return HTTPDate.time(text).map { max(0, $0.since(time)) }
    }

    static func traceID(_ value: [UInt8]) -> [UInt8]? {
        let isHex = value.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
                UInt8(ascii: "A")...UInt8(ascii: "F"):
                true
            default: false
            }
        }
        return isHex && (value.count == 16 || value.count == 32) ? value : nil
    }
}
