internal import Foundation

/// Times as the command line reads and prints them.
package enum TimeText {
    /// RFC 3339 with any offset and up to nine fraction digits (cut to milliseconds), or milliseconds since 1970.
    ///
    /// - Returns: nil for anything else, and for times outside the years 1970 to 9999.
    package static func milliseconds(_ text: String) -> Int64? {
        if let number = Int64(text) { return range.contains(number) ? number : nil }
        let style = Date.ISO8601FormatStyle(includingFractionalSeconds: false)
        guard let (whole, fraction) = splitFraction(text), let date = try? style.parse(whole) else { return nil }
        let milliseconds = Int64(date.timeIntervalSince1970.rounded()) * 1000 + fraction
        return range.contains(milliseconds) ? milliseconds : nil
    }

    /// RFC 3339 in UTC with milliseconds: `2026-11-20T12:00:00.000Z`.
    package static func rfc3339(_ milliseconds: Int64) -> String {
        let (seconds, rest) = milliseconds.quotientAndRemainder(dividingBy: 1000)
        let whole = Date(timeIntervalSince1970: Double(seconds)).formatted(Date.ISO8601FormatStyle())
        return whole.dropLast() + "." + String(1000 + rest).dropFirst() + "Z"
    }

    /// Until 9999-12-31T23:59:59.999Z.
    private static let range: ClosedRange<Int64> = 0...253_402_300_799_999

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
