/// Counts of values in fixed buckets: no allocation after the first value.
package struct Histogram: Sendable, Equatable {
    /// The greatest value of each bucket, rising; one bucket more has everything above.
    package let bounds: [Int64]
    /// One for each bucket.
    package private(set) var counts: [Int]
    package private(set) var sum: Int64 = 0

    package init(_ bounds: [Int64]) {
        self.bounds = bounds
        counts = Array(repeating: 0, count: bounds.count + 1)
    }

    package var count: Int { counts.reduce(0, +) }

    package mutating func add(_ value: Int64) {
        counts[bucket(of: value)] += 1
        sum &+= value
    }

    package mutating func add(_ other: Histogram) {
        precondition(bounds == other.bounds, "histograms of one kind are added")
        for index in counts.indices { counts[index] += other.counts[index] }
        sum &+= other.sum
    }

    /// - Parameters:
    ///   - count: of values in a bucket.
    ///   - sum: their part of all values' sum.
    package mutating func add(count: Int = 0, in bucket: Int = 0, sum: Int64 = 0) {
        counts[bucket] += count
        self.sum &+= sum
    }

    func bucket(of value: Int64) -> Int {
        // Elements of a span are read in place.
        let bounds = bounds.span
        for index in bounds.indices where value <= bounds[index] { return index }
        return bounds.count
    }
}

extension Histogram {
    /// Milliseconds from a request's timestamp to the commit of its answer.
    package static let answerAge = Histogram([
        5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 300_000,
    ])
    /// Milliseconds from the hand-over of a batch to its commit's outcome.
    package static let commitDuration = Histogram([
        5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000,
    ])
    /// Records of a batch.
    package static let batchRecords = Histogram([1, 5, 10, 50, 100, 500, 1_000, 5_000, 10_000, 50_000])
    /// Risk metrics: most devices have one to three keys.
    package static let riskMetric = Histogram([1, 2, 3, 5, 8, 13, 20, 50])
}
