/// Outcomes over time, in memory that does not grow with the records: where there are too many different times, they
/// are rounded more coarsely. Each step divides the next.
struct TimeCounts {
    private static let steps: [Int64] = [
        1, 10, 100, 1000, 10_000, 60_000, 600_000, 3_600_000, 21_600_000, 86_400_000, 604_800_000, 6_048_000_000,
        60_480_000_000, 604_800_000_000, 6_048_000_000_000, 60_480_000_000_000,
    ]
    /// Widths of columns; each is a multiple of the steps that are not above it, or is left out.
    private static let widths: [Int64] = [
        1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 30_000, 60_000, 120_000, 300_000, 600_000,
        1_800_000, 3_600_000, 7_200_000, 21_600_000, 43_200_000, 86_400_000, 172_800_000, 604_800_000, 1_209_600_000,
        6_048_000_000, 30_240_000_000, 60_480_000_000, 604_800_000_000, 6_048_000_000_000, 60_480_000_000_000,
    ]
    private static let mostColumns: Int64 = 96

    private struct Key: Hashable {
        var bin: Int64
        let outcome: OutcomeList.Index
    }

    private let most: Int
    private var step = 0
    private var counts: [Key: Int] = [:]

    init(most: Int = 200_000) { self.most = most }

    /// - Parameter time: milliseconds since 1970, not negative.
    mutating func add(_ time: Int64, _ outcome: OutcomeList.Index) {
        counts[Key(bin: time / Self.steps[step], outcome: outcome), default: 0] += 1
        while counts.count > most, step + 1 < Self.steps.count { coarsen() }
    }

    private mutating func coarsen() {
        let factor = Self.steps[step + 1] / Self.steps[step]
        step += 1
        var coarser: [Key: Int] = [:]
        for (key, count) in counts { coarser[Key(bin: key.bin / factor, outcome: key.outcome), default: 0] += count }
        counts = coarser
    }

    struct Columns {
        let axis: TimeAxis
        /// Records by outcome, then by column.
        let counts: [[Int]]
        /// Records so far away that they would have squeezed all others into a column.
        let outside: Int
    }

    /// - Returns: nil without a record.
    func columns(outcomes: Int) -> Columns? {
        var totals: [Int64: Int] = [:]
        for (key, count) in counts { totals[key.bin, default: 0] += count }
        guard let range = Self.shown(totals) else { return nil }
        let step = Self.steps[step]
        let (first, last) = (range.lowerBound * step, range.upperBound * step + step - 1)
        let width =
            Self.widths.first { width in
                width.isMultiple(of: step) && last / width - first / width < Self.mostColumns
            } ?? Self.steps[Self.steps.count - 1]
        let start = first / width * width
        let columns = Int((last - start) / width) + 1
        var result = [[Int]](repeating: [Int](repeating: 0, count: columns), count: outcomes)
        var outside = 0
        for (key, count) in counts {
            guard range.contains(key.bin) else {
                outside += count
                continue
            }
            result[Int(key.outcome)][Int((key.bin * step - start) / width)] += count
        }
        return Columns(axis: TimeAxis(start: start, width: width, count: columns), counts: result, outside: outside)
    }

    /// All of them, or 99.8 % if the rest lies far away.
    private static func shown(_ totals: [Int64: Int]) -> ClosedRange<Int64>? {
        let bins = totals.keys.sorted()
        guard let first = bins.first, let last = bins.last else { return nil }
        let margin = totals.values.reduce(0, +) / 1000
        func bound(_ bins: some Sequence<Int64>) -> Int64 {
            var left = margin
            for bin in bins {
                left -= totals[bin] ?? 0
                if left < 0 { return bin }
            }
            return first
        }
        let (low, high) = (bound(bins), bound(bins.reversed()))
        guard low <= high, last - first > 4 * (high - low + 1) else { return first...last }
        return low...high
    }
}
