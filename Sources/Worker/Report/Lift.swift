/// How a share stands out from the average.
enum Lift {
    /// Fewer are too few, whatever the interval says: a table has many cells.
    private static let leastPart = 5

    /// The class of a table's cell; empty where chance may explain the difference, or where it is small.
    static func shade(_ part: Int, of whole: Int, average: Double) -> String {
        guard let interval = Wilson(part, of: whole), average > 0 else { return "" }
        let lift = Double(part) / Double(whole) / average
        if part >= leastPart, interval.low > average, lift >= 1.25 { return lift >= 4 ? "h3" : lift >= 2 ? "h2" : "h1" }
        return interval.high < average && lift <= 0.8 ? "hl" : ""
    }
}
