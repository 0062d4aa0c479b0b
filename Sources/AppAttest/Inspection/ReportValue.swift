package enum ReportValue: Sendable, Equatable, CustomStringConvertible {
    case text(String)
    case number(Int64)
    case bytes([UInt8])
    case time(EvaluationTime)

    /// Text as it is, bytes as lower-case hex, times as RFC 3339 in UTC.
    package var description: String {
        switch self {
        case .text(let text): text
        case .number(let number): String(number)
        case .bytes(let bytes): Self.hex(bytes)
        case .time(let time): RFC3339.text(time)
        }
    }

    private static func hex(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef".utf8)
        let text = bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
        return String(decoding: text, as: UTF8.self)
    }
}
