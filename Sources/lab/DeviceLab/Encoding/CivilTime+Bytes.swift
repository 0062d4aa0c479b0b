internal import AppAttest

extension CivilTime {
    /// RFC 3339 as Apple's receipts have it: two or three fraction digits, a trailing zero dropped.
    var rfc3339: [UInt8] {
        var bytes = Array(text(withMilliseconds: true).utf8)
        if millisecond.isMultiple(of: 10) { bytes.remove(at: bytes.count - 2) }
        return bytes
    }

    static func midnight(_ year: Int, _ month: Int, _ day: Int) -> EvaluationTime {
        EvaluationTime(milliseconds: Int64(days(year, month, day)) * 86_400_000)
    }
}

extension EvaluationTime {
    static func + (time: Self, seconds: Int64) -> Self { Self(milliseconds: time.milliseconds + seconds * 1000) }
    static func - (time: Self, seconds: Int64) -> Self { time + -seconds }
}
