/// A time of the proleptic Gregorian calendar in UTC.
package struct CivilTime: Sendable {
    package let year: Int
    package let month: Int
    package let day: Int
    package let hour: Int
    package let minute: Int
    package let second: Int
    package let millisecond: Int

    package init(_ time: EvaluationTime) {
        let (days, rest) = Self.floored(Int(time.milliseconds), by: 86_400_000)
        (hour, minute) = (rest / 3_600_000, rest / 60_000 % 60)
        (second, millisecond) = (rest / 1000 % 60, rest % 1000)
        // Days counted from 0000-03-01, so that the leap day is the last of its year.
        let (era, dayOfEra) = Self.floored(days + 719_468, by: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    /// The days from 1970 to a date.
    package static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
        // Years that begin in March, so that the leap day is the last of its year.
        let (era, yearOfEra) = floored(month > 2 ? year : year - 1, by: 400)
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    fileprivate static func days(inMonth month: Int, of year: Int) -> Int {
        switch month {
        case 2: (year % 4 == 0 && year % 100 != 0) || year % 400 == 0 ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// Quotient and remainder with the remainder never negative, as times before 1970 need.
    private static func floored(_ value: Int, by divisor: Int) -> (Int, Int) {
        let (quotient, remainder) = value.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}

/// Milliseconds since 1970 UTC: below the worker every time has this type and is an argument.
package struct EvaluationTime: Hashable, Comparable, Sendable {
    package let milliseconds: Int64
    package init(milliseconds: Int64) { self.milliseconds = milliseconds }
    /// A time in seconds since 1970, as tokens have it: any number is taken.
    package init(seconds: Int64) { self.init(milliseconds: seconds.clampedMultiplied(by: 1000)) }
    package static func < (left: Self, right: Self) -> Bool { left.milliseconds < right.milliseconds }

    /// The milliseconds from 1970 to the end of 9999: what RFC 3339 can write.
    package static let writable: ClosedRange<Int64> = 0...253_402_300_799_999
}

extension EvaluationTime {
    /// Reads month, day, hour, minute and second: two digits each, which begin `step` bytes apart.
    ///
    /// - Returns: nil for a day or an hour that no calendar has.
    init?(year: Int?, _ start: Int, step: Int, _ bytes: Span<UInt8>) {
        guard let year, let month = bytes.decimal(start, 2), (1...12).contains(month),
            let day = bytes.decimal(start + step, 2), day >= 1, day <= CivilTime.days(inMonth: month, of: year),
            let hour = bytes.decimal(start + 2 * step, 2), hour < 24,
            let minute = bytes.decimal(start + 3 * step, 2), minute < 60,
            let second = bytes.decimal(start + 4 * step, 2), second < 60
        else { return nil }
        let seconds = ((CivilTime.days(year, month, day) * 24 + hour) * 60 + minute) * 60 + second
        self.init(milliseconds: Int64(seconds) * 1000)
    }
}

/// The time at which a leaf was issued: orders a key's attestations.
///
/// Apple backdates every leaf by the same day and numbers it by the millisecond of its issue.
package struct IssueTime: Hashable, Comparable, Sendable {
    package let notBefore: EvaluationTime
    /// The serial number; numbers beyond 63 bits, far above Apple's, count as equal.
    package let serial: Int64

    package init(notBefore: EvaluationTime, serial: Int64) { (self.notBefore, self.serial) = (notBefore, serial) }

    package static func < (left: Self, right: Self) -> Bool {
        (left.notBefore, left.serial) < (right.notBefore, right.serial)
    }
}
