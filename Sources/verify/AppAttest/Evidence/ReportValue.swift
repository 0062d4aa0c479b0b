package enum ReportValue: Sendable, Equatable, CustomStringConvertible {
    case text(String)
    case number(Int64)
    case bytes([UInt8])
    /// Bytes that users have as base64: key IDs and public keys.
    case base64([UInt8])
    case time(EvaluationTime)

    /// Text as it is, bytes as lower-case hex or standard base64, times as RFC 3339 in UTC.
    package var description: String {
        switch self {
        case .text(let text): text
        case .number(let number): String(number)
        case .bytes(let bytes): Hexadecimal.encode(bytes)
        case .base64(let bytes): Self.base64(bytes)
        case .time(let time): RFC3339.text(time)
        }
    }

    /// Standard base64, padded; here, since the reader of JSON stands above this module.
    private static func base64(_ bytes: [UInt8]) -> String {
        let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        var text: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let word = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
            for place in 0..<4 {
                let digit = digits[word >> (18 - 6 * place) & 63]
                text.append(place <= group.count ? digit : UInt8(ascii: "="))
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}

/// Bytes as hexadecimal digits, two for each.
package enum Hexadecimal {
    /// Appends the digits, in small letters.
    package static func append(_ bytes: Span<UInt8>, to text: inout [UInt8]) {
        func digit(_ value: UInt8) -> UInt8 { value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10 }
        for index in bytes.indices {
            text.append(digit(bytes[index] >> 4))
            text.append(digit(bytes[index] & 15))
        }
    }

    package static func encode(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        append(bytes.span, to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    /// - Returns: nil unless the text is hex of at least one byte.
    package static func decode(_ text: [UInt8]) -> [UInt8]? {
        guard !text.isEmpty, text.count.isMultiple(of: 2) else { return nil }
        let values = text.compactMap(value)
        guard values.count == text.count else { return nil }
        return stride(from: 0, to: values.count, by: 2).map { values[$0] << 4 | values[$0 + 1] }
    }

    private static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}
