internal import AppAttest
internal import Settings

/// Figures for readers.
package enum Figure {
    /// A narrow space that no line breaks at.
    static let gap: Unicode.Scalar = "\u{202F}"

    /// Fixed-point text, independent of any locale.
    package static func fixed(_ value: Double, _ digits: Int) -> String {
        guard value.isFinite, abs(value) < 1e12 else { return "–" }
        let scale = (0..<digits).reduce(1.0) { scale, _ in scale * 10 }
        let scaled = Int((abs(value) * scale).rounded())
        let (whole, fraction) = scaled.quotientAndRemainder(dividingBy: Int(scale))
        let sign = value < 0 && scaled != 0 ? "−" : ""
        guard digits > 0 else { return sign + whole.grouped }
        let text = String(fraction)
        return sign + whole.grouped + "." + String(repeating: "0", count: digits - text.count) + text
    }

    /// A share in percent: none and all only where it is exactly that.
    static func share(_ part: Int, of whole: Int) -> String {
        guard whole > 0 else { return "–" }
        guard part > 0 else { return "0\(gap)%" }
        guard part < whole else { return "100\(gap)%" }
        let percent = Double(part) / Double(whole) * 100
        if percent < 0.01 { return "<\(gap)0.01\(gap)%" }
        if percent > 99.99 { return ">\(gap)99.99\(gap)%" }
        return fixed(percent, percent < 10 || percent > 99 ? 2 : 1) + "\(gap)%"
    }

    /// How many times the average.
    static func lift(_ lift: Double) -> String { "×" + fixed(lift, lift < 10 ? 1 : 0) }

    /// A number of JSON.
    package static func plain(_ value: Double, _ digits: Int) -> String {
        fixed(value, digits).replacing(",", with: "").replacing("−", with: "-")
    }

    static func bytes(_ count: Int) -> String {
        switch count {
        case ..<10_000: "\(count.grouped)\(gap)bytes"
        case ..<10_000_000: fixed(Double(count) / 1000, 0) + "\(gap)kB"
        default: fixed(Double(count) / 1_000_000, 0) + "\(gap)MB"
        }
    }

    /// A span in the largest unit that says it exactly, or nearly.
    static func span(_ milliseconds: Int64) -> String {
        let units: [(Int64, String)] = [(86_400_000, "d"), (3_600_000, "h"), (60_000, "min"), (1000, "s")]
        for (unit, name) in units where milliseconds >= unit {
            let isWhole = milliseconds.isMultiple(of: unit)
            return fixed(Double(milliseconds) / Double(unit), isWhole ? 0 : 1) + "\(gap)" + name
        }
        return "\(milliseconds)\(gap)ms"
    }
}

/// Times for readers: UTC, without a letter for it; the page says it once.
enum UTCText {
    enum Precision { case day, minute, second, millisecond }

    static func of(_ milliseconds: Int64, _ precision: Precision = .second) -> String {
        let civil = CivilTime(EvaluationTime(milliseconds: milliseconds))
        let day = "\(pad(civil.year, 4))-\(pad(civil.month))-\(pad(civil.day))"
        let minute = "\(pad(civil.hour)):\(pad(civil.minute))"
        switch precision {
        case .day: return day
        case .minute: return "\(day) \(minute)"
        case .second: return "\(day) \(minute):\(pad(civil.second))"
        case .millisecond: return "\(day) \(minute):\(pad(civil.second)).\(pad(civil.millisecond, 3))"
        }
    }

    /// The precision that columns of this width need.
    static func precision(_ width: Int64) -> Precision {
        width >= 86_400_000 ? .day : width >= 60_000 ? .minute : width >= 1000 ? .second : .millisecond
    }

    private static func pad(_ number: Int, _ width: Int = 2) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}
