package import AppAttest

extension EvaluationTime {
    /// RFC 3339 in UTC, milliseconds only where there are any: `2026-10-09T07:25:22Z`, `2026-10-09T07:25:22.125Z`.
    package var rfc3339: [UInt8] {
        let (day, time) = Self.divide(milliseconds, by: 86_400_000)
        let (year, month, dayOfMonth) = Self.civil(day)
        let second = time / 1000
        var text: [UInt8] = []
        text.reserveCapacity(24)
        Self.append(year, digits: 4, to: &text)
        text.append(0x2D)
        Self.append(month, digits: 2, to: &text)
        text.append(0x2D)
        Self.append(dayOfMonth, digits: 2, to: &text)
        text.append(0x54)
        Self.append(second / 3600, digits: 2, to: &text)
        text.append(0x3A)
        Self.append(second / 60 % 60, digits: 2, to: &text)
        text.append(0x3A)
        Self.append(second % 60, digits: 2, to: &text)
        if time % 1000 != 0 {
            text.append(0x2E)
            Self.append(time % 1000, digits: 3, to: &text)
        }
        text.append(0x5A)
        return text
    }

    private static func divide(_ value: Int64, by divisor: Int64) -> (Int64, Int64) {
        let remainder = value % divisor
        return remainder < 0 ? (value / divisor - 1, remainder + divisor) : (value / divisor, remainder)
    }

    private static func append(_ value: Int64, digits: Int, to text: inout [UInt8]) {
        var divisor: Int64 = 1
        for _ in 1..<digits { divisor *= 10 }
        while divisor > 0 {
            text.append(0x30 + UInt8(truncatingIfNeeded: value / divisor % 10))
            divisor /= 10
        }
    }

    /// Days since 1970 to the Gregorian date, by eras of 400 years that start on 1 March.
    private static func civil(_ days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = days + 719_468
        let (era, dayOfEra) = divide(shifted, by: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        let year = era * 400 + yearOfEra + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
    }
}
