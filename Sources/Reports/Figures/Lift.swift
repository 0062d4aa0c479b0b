/// How a share stands out from the average.
struct Lift {
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
