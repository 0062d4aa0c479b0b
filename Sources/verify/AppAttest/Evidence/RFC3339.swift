/// Times as people read them (RFC 3339): UTC, fractions of a second only where there are some.
enum RFC3339 {
    static func text(_ time: EvaluationTime) -> String {
        let civil = CivilTime(time)
        let date = "\(padded(civil.year, 4))-\(padded(civil.month, 2))-\(padded(civil.day, 2))"
        let clock = "\(padded(civil.hour, 2)):\(padded(civil.minute, 2)):\(padded(civil.second, 2))"
        return "\(date)T\(clock)\(civil.millisecond == 0 ? "" : ".\(padded(civil.millisecond, 3))")Z"
    }

    private static func padded(_ number: Int, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}
