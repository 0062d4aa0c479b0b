/// Times as people read and write them (RFC 3339).
package enum RFC3339 {
    /// A time in UTC, with a fraction of a second only where there is one.
    static func text(_ time: EvaluationTime) -> String {
        CivilTime(time).text(withMilliseconds: !time.milliseconds.isMultiple(of: 1000))
    }

    /// A time in UTC or with an offset such as `+02:00`, with up to nine fraction digits, cut to milliseconds.
    ///
    /// - Returns: nil for any other text, and for a day or an hour that no calendar has.
    package static func time(_ text: [UInt8]) -> EvaluationTime? {
        let zone = text.suffix(6).map { Int64($0) - 0x30 }
        // From the digit 0, a colon is 10 ahead, a plus sign 5 behind, and a minus sign 3.
        guard zone.count == 6, zone[3] == 10, zone[0] == -5 || zone[0] == -3 else {
            return ReceiptDate.time(text.indices, text.span)
        }
        let (hours, minutes) = (10 * zone[1] + zone[2], 10 * zone[4] + zone[5])
        guard [zone[1], zone[2], zone[4], zone[5]].allSatisfy({ (0...9).contains($0) }), hours < 24, minutes < 60
        else { return nil }
        let local = text.dropLast(6) + [UInt8(ascii: "Z")]
        let offset = (zone[0] == -5 ? 60_000 : -60_000) * (60 * hours + minutes)
        return ReceiptDate.time(local.indices, Array(local).span).map {
            EvaluationTime(milliseconds: $0.milliseconds - offset)
        }
    }
}

/// RFC 3339 times as receipts have them: `2024-06-28T12:34:56.78Z`, UTC, with 0 to 9 fraction digits.
package enum ReceiptDate {
    /// `YYYY-MM-DDTHH:MM:SS`.
    private static let wholeCount = 19
    private static let maxFractionDigits = 9

    /// - Returns: the time, cut to milliseconds; nil for any other spelling and for days that no calendar has.
    package static func time(_ range: Range<Int>, _ bytes: Span<UInt8>) -> EvaluationTime? {
        let start = range.lowerBound
        guard range.count > wholeCount, bytes[range.upperBound - 1] == UInt8(ascii: "Z") else { return nil }
        for (offset, mark) in zip([4, 7, 10, 13, 16], "--T::".utf8) where bytes[start + offset] != mark { return nil }
        guard let seconds = EvaluationTime(year: bytes.decimal(start, 4), start + 5, step: 3, bytes),
            let fraction = milliseconds((start + wholeCount)..<(range.upperBound - 1), bytes)
        else { return nil }
        return EvaluationTime(milliseconds: seconds.milliseconds + fraction)
    }

    private static func milliseconds(_ range: Range<Int>, _ bytes: Span<UInt8>) -> Int64? {
        guard !range.isEmpty else { return 0 }
        let digits = range.dropFirst()
        guard bytes[range.lowerBound] == UInt8(ascii: "."), (1...maxFractionDigits).contains(digits.count),
            var value = bytes.decimal(digits.lowerBound, digits.count)
        else { return nil }
        for _ in digits.count..<max(3, digits.count) { value *= 10 }
        for _ in 3..<max(3, digits.count) { value /= 10 }
        return Int64(value)
    }
}

extension CivilTime {
    /// RFC 3339, to the second or to the millisecond: `2026-11-20T12:00:00.000Z`.
    package func text(withMilliseconds: Bool) -> String {
        func digits(_ number: Int, _ width: Int = 2) -> String { Counted.padded(String(number), width) }
        let date = "\(digits(year, 4))-\(digits(month))-\(digits(day))"
        let clock = "\(digits(hour)):\(digits(minute)):\(digits(second))"
        return "\(date)T\(clock)\(withMilliseconds ? ".\(digits(millisecond, 3))" : "")Z"
    }
}
