/// Times as people read them (RFC 3339): UTC, fractions of a second only where there are some.
enum RFC3339 {
    static func text(_ time: EvaluationTime) -> String {
        let (seconds, fraction) = floored(time.milliseconds, by: 1000)
        let (days, secondOfDay) = floored(seconds, by: 86_400)
        let (year, month, day) = civil(days)
        let date = "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))"
        let (hour, minute, second) = (secondOfDay / 3600, secondOfDay / 60 % 60, secondOfDay % 60)
        let clock = "\(padded(hour, 2)):\(padded(minute, 2)):\(padded(second, 2))"
        return "\(date)T\(clock)\(fraction == 0 ? "" : ".\(padded(fraction, 3))")Z"
    }

    /// Quotient and remainder with the remainder never negative.
    private static func floored(_ value: Int64, by divisor: Int64) -> (Int64, Int64) {
        let (quotient, remainder) = value.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }

    /// The proleptic Gregorian date of a day since 1970; years start in March, so that a leap day comes last.
    private static func civil(_ days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let (era, dayOfEra) = floored(days + 719_468, by: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shifted + 2) / 5 + 1)
    }

    private static func padded(_ number: Int64, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}
