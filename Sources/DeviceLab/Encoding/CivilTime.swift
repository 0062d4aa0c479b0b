internal import AppAttest

/// A time of the proleptic Gregorian calendar in UTC.
struct CivilTime {
    let year: Int
    let month: Int
    let day: Int
    let hour: Int
    let minute: Int
    let second: Int
    let millisecond: Int

    init(_ time: EvaluationTime) {
        let day = Int(time.milliseconds.flooredQuotient(by: 86_400_000))
        let rest = Int(time.milliseconds) - day * 86_400_000
        (hour, minute) = (rest / 3_600_000, rest / 60_000 % 60)
        (second, millisecond) = (rest / 1000 % 60, rest % 1000)
        // Days counted from 0000-03-01, so that the leap day is the last of its year.
        let shifted = day + 719_468
        let era = Int(Int64(shifted).flooredQuotient(by: 146_097))
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        self.day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    /// `YYYYMMDDhhmmss`.
    var digits: [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(16)
        text.appendDigits(year, 4)
        for part in [month, day, hour, minute, second] { text.appendDigits(part, 2) }
        return text
    }

    /// RFC 3339 as Apple's receipts have it: two or three fraction digits, a trailing zero dropped.
    var rfc3339: [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(24)
        text.appendDigits(year, 4)
        for (mark, part) in zip("--T::".utf8, [month, day, hour, minute, second]) {
            text.append(mark)
            text.appendDigits(part, 2)
        }
        text.append(UInt8(ascii: "."))
        let isShort = millisecond % 10 == 0
        text.appendDigits(isShort ? millisecond / 10 : millisecond, isShort ? 2 : 3)
        return text + [UInt8(ascii: "Z")]
    }

    /// Midnight of a day, for years from 1 on.
    static func midnight(_ year: Int, _ month: Int, _ day: Int) -> EvaluationTime {
        let shiftedYear = month <= 2 ? year - 1 : year
        let era = shiftedYear / 400
        let yearOfEra = shiftedYear - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return EvaluationTime(milliseconds: Int64(era * 146_097 + dayOfEra - 719_468) * 86_400_000)
    }
}

extension EvaluationTime {
    static func + (time: Self, seconds: Int64) -> Self { Self(milliseconds: time.milliseconds + seconds * 1000) }
    static func - (time: Self, seconds: Int64) -> Self { time + -seconds }
}

extension Int64 {
    /// Rounds towards negative infinity, as times before 1970 need.
    fileprivate func flooredQuotient(by divisor: Int64) -> Int64 {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }
}

extension [UInt8] {
    /// The last `count` decimal digits of a number that is not negative.
    fileprivate mutating func appendDigits(_ value: Int, _ count: Int) {
        var divisor = 1
        for _ in 1..<count { divisor *= 10 }
        while divisor > 0 {
            append(UInt8(ascii: "0") + UInt8(value / divisor % 10))
            divisor /= 10
        }
    }
}
