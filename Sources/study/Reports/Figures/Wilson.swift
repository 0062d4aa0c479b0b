/// The interval in which a share lies, judged by a sample (Wilson's score interval, 95 %): unlike the simple one it
/// holds for few records, and for none or all of them.
struct Wilson: Equatable {
    let low: Double
    let high: Double

    /// The normal distribution's 97.5th percentile.
    private static let z = 1.959963984540054

    /// - Returns: nil without a sample.
    init?(_ part: Int, of whole: Int) {
        guard whole > 0, (0...whole).contains(part) else { return nil }
        let (share, count, square) = (Double(part) / Double(whole), Double(whole), Self.z * Self.z)
        let middle = share + square / (2 * count)
        let spread = Self.z * (share * (1 - share) / count + square / (4 * count * count)).squareRoot()
        let scale = 1 + square / count
        // At the ends the exact values are 0 and 1; rounding must not take them away.
        low = part == 0 ? 0 : max(0, (middle - spread) / scale)
        high = part == whole ? 1 : min(1, (middle + spread) / scale)
    }

    /// `0.18 % to 2.40 %`.
    var text: String { "\(Self.percent(low)) to \(Self.percent(high))" }

    static func percent(_ share: Double) -> String {
        Figure.fixed(share * 100, share < 0.1 ? 2 : 1) + "\u{202F}%"
    }
}

/// How a share stands out from the average.
struct RateShading {
    /// The names are classes of cells.
    enum Shade: String { case high1, high2, high3, low }

    /// Fewer are too few, whatever the interval says: a table has many cells.
    private static let leastPart = 5

    /// How many times the average.
    let times: Double
    let shade: Shade

    /// - Returns: nil where chance may explain the difference, or where it is small.
    init?(_ part: Int, of whole: Int, average: Double) {
        guard let interval = Wilson(part, of: whole), average > 0 else { return nil }
        times = Double(part) / Double(whole) / average
        if part >= Self.leastPart, interval.low > average, times >= 1.25 {
            shade = times >= 4 ? .high3 : times >= 2 ? .high2 : .high1
        } else if interval.high < average, times <= 0.8 {
            shade = .low
        } else {
            return nil
        }
    }
}
