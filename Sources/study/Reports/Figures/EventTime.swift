/// The one form in which the worker writes times, read without a calendar: `2026-11-20T12:00:00.000Z`.
enum EventTime {
    /// - Returns: nil for any other text.
    static func milliseconds(_ text: String) -> Int64? {
        let bytes = Array(text.utf8.prefix(25))
        guard bytes.count == 24, bytes[4] == UInt8(ascii: "-"), bytes[7] == UInt8(ascii: "-"),
            bytes[10] == UInt8(ascii: "T"), bytes[13] == UInt8(ascii: ":"), bytes[16] == UInt8(ascii: ":"),
            bytes[19] == UInt8(ascii: "."), bytes[23] == UInt8(ascii: "Z"), let year = number(bytes[0..<4]),
            let month = number(bytes[5..<7]), let day = number(bytes[8..<10]), let hour = number(bytes[11..<13]),
            let minute = number(bytes[14..<16]), let second = number(bytes[17..<19]), let rest = number(bytes[20..<23]),
            year >= 1970, (1...12).contains(month), (1...31).contains(day), hour < 24, minute < 60, second < 60
        else { return nil }
        // Years begin in March here, so that the leap day is the last of its year.
        let (shifted, months) = (month > 2 ? year : year - 1, (month + 9) % 12)
        let leaps = shifted / 4 - shifted / 100 + shifted / 400
        let days = shifted * 365 + leaps + (months * 153 + 2) / 5 + day - 1 - 719_468
        return ((days * 24 + hour) * 60 + minute) * 60_000 + second * 1000 + rest
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> Int64? {
        var number: Int64 = 0
        for digit in digits {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
            number = number * 10 + Int64(digit - UInt8(ascii: "0"))
        }
        return number
    }
}
