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
        return sign + whole.grouped + "." + Counted.padded(String(fraction), digits)
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

    /// A device as events name it: 16 hexadecimal digits.
    package static func device(_ number: UInt64) -> String { Counted.padded(String(number, radix: 16), 16) }

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
    /// How many characters of RFC 3339 are shown.
    enum Precision: Int { case day = 10, minute = 16, second = 19, millisecond = 23 }

    /// - Parameter milliseconds: since 1970, before the year 10,000.
    static func of(_ milliseconds: Int64, _ precision: Precision = .second) -> String {
        String(TimeText.rfc3339(milliseconds).replacing("T", with: " ").prefix(precision.rawValue))
    }

    /// The precision that columns of this width need.
    static func precision(_ width: Int64) -> Precision {
        width >= 86_400_000 ? .day : width >= 60_000 ? .minute : width >= 1000 ? .second : .millisecond
    }
}

extension [String: Int] {
    /// The highest counts first, equal ones by name.
    package var ranked: [(key: String, value: Int)] {
        sorted { $0.value == $1.value ? $0.key < $1.key : $0.value > $1.value }
    }
}
