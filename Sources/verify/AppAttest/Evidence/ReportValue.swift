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
        case .bytes(let bytes): Self.hex(bytes)
        case .base64(let bytes): Self.base64(bytes)
        case .time(let time): RFC3339.text(time)
        }
    }

    private static func hex(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef".utf8)
        let text = bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
        return String(decoding: text, as: UTF8.self)
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
