package import AppAttest

extension EvaluationTime {
    /// RFC 3339 in UTC, milliseconds only where there are any: `2026-10-09T07:25:22Z`, `2026-10-09T07:25:22.125Z`.
    package var rfc3339: [UInt8] {
        let text = RFC3339Text(self)
        return (0..<text.count).map { text.bytes[$0] }
    }
}

/// The text of ``AppAttest/EvaluationTime/rfc3339``, without allocating an array.
struct RFC3339Text {
    private(set) var bytes = InlineArray<24, UInt8>(repeating: 0)
    private(set) var count = 0

    init(_ time: EvaluationTime) {
        let civil = CivilTime(time)
        pair(civil.year / 100)
        pair(civil.year % 100)
        append(0x2D)
        pair(civil.month)
        append(0x2D)
        pair(civil.day)
        append(0x54)
        pair(civil.hour)
        append(0x3A)
        pair(civil.minute)
        append(0x3A)
        pair(civil.second)
        if civil.millisecond != 0 {
            append(0x2E)
            append(Self.digit(civil.millisecond / 100))
            pair(civil.millisecond % 100)
        }
        append(0x5A)
    }

    private mutating func append(_ byte: UInt8) {
        bytes[count] = byte
        count += 1
    }

    private mutating func pair(_ value: Int) {
        append(Self.digit(value / 10))
        append(Self.digit(value))
    }

    /// The last digit of a number.
    private static func digit(_ value: Int) -> UInt8 { 0x30 + UInt8(truncatingIfNeeded: value % 10) }
}
