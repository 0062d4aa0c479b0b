package import AppAttest

extension EvaluationTime {
    /// RFC 3339 in UTC, milliseconds only where there are any: `2026-10-09T07:25:22Z`, `2026-10-09T07:25:22.125Z`.
    package var rfc3339: [UInt8] {
        let civil = CivilTime(self)
        var text: [UInt8] = []
        text.reserveCapacity(24)
        Self.append(civil.year, digits: 4, to: &text)
        text.append(0x2D)
        Self.append(civil.month, digits: 2, to: &text)
        text.append(0x2D)
        Self.append(civil.day, digits: 2, to: &text)
        text.append(0x54)
        Self.append(civil.hour, digits: 2, to: &text)
        text.append(0x3A)
        Self.append(civil.minute, digits: 2, to: &text)
        text.append(0x3A)
        Self.append(civil.second, digits: 2, to: &text)
        if civil.millisecond != 0 {
            text.append(0x2E)
            Self.append(civil.millisecond, digits: 3, to: &text)
        }
        text.append(0x5A)
        return text
    }

    private static func append(_ value: Int, digits: Int, to text: inout [UInt8]) {
        var divisor = 1
        for _ in 1..<digits { divisor *= 10 }
        while divisor > 0 {
            text.append(0x30 + UInt8(truncatingIfNeeded: value / divisor % 10))
            divisor /= 10
        }
    }
}
