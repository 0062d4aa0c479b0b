internal import AppAttest

extension CivilTime {
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
