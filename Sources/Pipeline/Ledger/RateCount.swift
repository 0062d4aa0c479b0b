package import AppAttest

/// An app's admitted attestations since `start`, on one partition.
package struct RateCount: Hashable, Sendable {
    package var start: EvaluationTime
    package var count: UInt64

    package init(start: EvaluationTime, count: UInt64) {
        self.start = start
        self.count = count
    }
}
