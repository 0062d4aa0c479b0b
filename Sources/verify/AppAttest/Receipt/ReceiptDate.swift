/// RFC 3339 times as receipts have them: `2024-06-28T12:34:56.78Z`, UTC, with 0 to 9 fraction digits.
package enum ReceiptDate {
    /// `YYYY-MM-DDTHH:MM:SS`.
    private static let wholeCount = 19
    private static let maxFractionDigits = 9

    /// - Returns: the time, cut to milliseconds; nil for any other spelling and for days that no calendar has.
    package static func time(_ range: Range<Int>, _ bytes: Span<UInt8>) -> EvaluationTime? {
        guard range.count > wholeCount, bytes[range.upperBound - 1] == UInt8(ascii: "Z"),
            let seconds = seconds(range.lowerBound, bytes),
            let fraction = milliseconds((range.lowerBound + wholeCount)..<(range.upperBound - 1), bytes)
        else { return nil }
        return EvaluationTime(milliseconds: seconds.milliseconds + fraction)
    }

    /// The date and time of day, read as X.509's GeneralizedTime, which has the same digits without the marks.
    private static func seconds(_ start: Int, _ bytes: Span<UInt8>) -> EvaluationTime? {
        let marks: [(Int, UInt8)] = [
            (4, UInt8(ascii: "-")), (7, UInt8(ascii: "-")), (10, UInt8(ascii: "T")), (13, UInt8(ascii: ":")),
            (16, UInt8(ascii: ":")),
        ]
        for (offset, mark) in marks where bytes[start + offset] != mark { return nil }
        let positions = [0, 1, 2, 3, 5, 6, 8, 9, 11, 12, 14, 15, 17, 18]
        let time = [0x18, 0x0F] + positions.map { bytes[start + $0] } + [UInt8(ascii: "Z")]
        var reader = DERReader(time.indices)
        return try? DERTime.next(&reader, time.span)
    }

    private static func milliseconds(_ range: Range<Int>, _ bytes: Span<UInt8>) -> Int64? {
        guard !range.isEmpty else { return 0 }
        let digits = range.dropFirst()
        guard bytes[range.lowerBound] == UInt8(ascii: "."), (1...maxFractionDigits).contains(digits.count) else {
            return nil
        }
        var value: Int64 = 0
        for (place, index) in digits.enumerated() {
            let digit = bytes[index] &- UInt8(ascii: "0")
            guard digit < 10 else { return nil }
            if place < 3 { value = value * 10 + Int64(digit) }
        }
        for _ in digits.count..<max(3, digits.count) { value *= 10 }
        return value
    }
}
