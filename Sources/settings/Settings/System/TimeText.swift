internal import AppAttest

/// Times as the command line reads and prints them.
package enum TimeText {
    /// RFC 3339 with any offset and up to nine fraction digits (cut to milliseconds), or milliseconds since 1970.
    ///
    /// - Returns: nil for anything else, and for times outside the years 1970 to 9999.
    package static func milliseconds(_ text: String) -> Int64? {
        if let number = Int64(text) { return range.contains(number) ? number : nil }
        guard let (whole, fraction) = splitFraction(text), let seconds = seconds(Array(whole.utf8)) else { return nil }
        let milliseconds = seconds * 1000 + fraction
        return range.contains(milliseconds) ? milliseconds : nil
    }

    /// RFC 3339 in UTC with milliseconds: `2026-11-20T12:00:00.000Z`.
    package static func rfc3339(_ milliseconds: Int64) -> String {
        let time = CivilTime(EvaluationTime(milliseconds: milliseconds))
        func digits(_ number: Int, _ count: Int) -> String {
            let text = String(number)
            return String(repeating: "0", count: max(0, count - text.utf8.count)) + text
        }
        let date = "\(digits(time.year, 4))-\(digits(time.month, 2))-\(digits(time.day, 2))"
        let clock = "\(digits(time.hour, 2)):\(digits(time.minute, 2)):\(digits(time.second, 2))"
        return "\(date)T\(clock).\(digits(time.millisecond, 3))Z"
    }

    /// `2026-11-20T12:00:00Z`, or with an offset such as `+02:00` instead of the Z.
    private static func seconds(_ text: [UInt8]) -> Int64? {
        let signs: [(Int, UInt8)] = [(4, 0x2D), (7, 0x2D), (10, 0x54), (13, 0x3A), (16, 0x3A)]
        guard text.count >= 20, signs.allSatisfy({ text[$0.0] == $0.1 }), let year = number(text[0..<4]),
            let month = number(text[5..<7]), let day = number(text[8..<10]), let hour = number(text[11..<13]),
            let minute = number(text[14..<16]), let second = number(text[17..<19]), let offset = offset(text[19...]),
            let days = days(year, month, day), hour < 24, minute < 60, second < 60
        else { return nil }
        return ((days * 24 + hour) * 60 + minute - offset) * 60 + second
    }

    /// `Z`, or `+02:00`: minutes.
    private static func offset(_ text: ArraySlice<UInt8>) -> Int64? {
        let text = Array(text)
        if text == [0x5A] { return 0 }
        guard text.count == 6, text[3] == 0x3A, let hours = number(text[1..<3]), let minutes = number(text[4..<6]),
            hours < 24, minutes < 60
        else { return nil }
        switch text[0] {
        case UInt8(ascii: "+"): return hours * 60 + minutes
        case UInt8(ascii: "-"): return -(hours * 60 + minutes)
        default: return nil
        }
    }

    /// The days since 1970; nil for a date that no calendar has.
    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64? {
        // Years that begin in March, so that the leap day is the last of its year.
        let (marchYear, marchMonth) = month > 2 ? (year, month - 3) : (year - 1, month + 9)
        let leapDays = marchYear / 4 - marchYear / 100 + marchYear / 400
        let days = marchYear * 365 + leapDays + (153 * marchMonth + 2) / 5 + day - 1 - 719_468
        let date = CivilTime(EvaluationTime(milliseconds: days * 86_400_000))
        return (Int64(date.year), Int64(date.month), Int64(date.day)) == (year, month, day) ? days : nil
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> Int64? {
        guard digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return digits.reduce(0) { $0 * 10 + Int64($1 - 0x30) }
    }

    private static let range = EvaluationTime.writable

    /// Splits `.123` off a time: returns the rest, and the milliseconds.
    private static func splitFraction(_ text: String) -> (String, Int64)? {
        guard let dot = text.firstIndex(of: ".") else { return (text, 0) }
        let digits = text[text.index(after: dot)...].prefix { $0.isASCII && $0.isNumber }
        guard (1...9).contains(digits.count) else { return nil }
        let padded = digits.prefix(3) + String(repeating: "0", count: max(0, 3 - digits.count))
        guard let fraction = Int64(padded) else { return nil }
        return (String(text[..<dot]) + text[digits.endIndex...], fraction)
    }
}
