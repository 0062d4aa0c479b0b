/// Durations in buckets that are at most 1/64 wide, so that millions take no memory.
package struct LatencyTally: Sendable {
    /// Buckets to each doubling.
    private static let steps = 64

    private var buckets: [Int] = []
    package private(set) var count = 0
    /// The longest latency in microseconds.
    package private(set) var longest: Int64 = 0

    package init() {}

    package mutating func add(microseconds: Int64) {
        let bucket = Self.bucket(max(0, microseconds))
        if bucket >= buckets.count { buckets += [Int](repeating: 0, count: bucket + 1 - buckets.count) }
        buckets[bucket] += 1
        count += 1
        longest = max(longest, microseconds)
    }

    /// - Parameter share: 0.5 for the median.
    /// - Returns: microseconds, at most 1/64 too many; 0 where nothing was added.
    package func quantile(_ share: Double) -> Int64 {
        let wanted = max(1, Int((Double(count) * share).rounded(.up)))
        var seen = 0
        for (bucket, found) in buckets.enumerated() {
            seen += found
            if seen >= wanted { return min(longest, Self.end(of: bucket)) }
        }
        return longest
    }

    /// Exact below 64 µs; above, the leading bit and the six bits after it.
    private static func bucket(_ value: Int64) -> Int {
        guard value >= steps else { return Int(value) }
        let shift = 63 - value.leadingZeroBitCount - 6
        return (shift + 1) * steps + Int(value >> Int64(shift)) - steps
    }

    /// The largest value of a bucket.
    private static func end(of bucket: Int) -> Int64 {
        let (row, column) = bucket.quotientAndRemainder(dividingBy: steps)
        guard row > 0 else { return Int64(column) }
        return (Int64(steps + column + 1) << Int64(row - 1)) - 1
    }
}
