package import AppAttest
internal import Streams

/// Stops taking records when too many of them hit a bug of ours: better to wait for an operator than to drain the topic
/// into the dead letters. Records of a hostile producer do not count.
package struct Breaker: Sendable {
    package struct Limits: Sendable {
        /// The number of records in a window.
        package var window = 1_000
        /// Internal dead letters in a window that open the breaker.
        package var most = 20
        /// How long it stays open before records are tried again, in milliseconds.
        package var pause: Int64 = 30_000
        package init() {}
    }

    private let limits: Limits
    private var records = 0
    private var failures = 0
    private var openedAt: EvaluationTime?
    /// Whether it was reported that the breaker is open.
    var isReported = false

    package init(limits: Limits = Limits()) { self.limits = limits }

    /// Counts a committed batch.
    package mutating func add(records count: Int, internal failed: Int, at now: EvaluationTime) {
        assert(count >= 0 && (0...count).contains(failed), "failures are some of the records")
        records += count
        failures += failed
        if failures >= limits.most { openedAt = now }
        guard records >= limits.window || openedAt != nil else { return }
        (records, failures) = (0, 0)
    }

    /// Whether records may be taken.
    package mutating func allows(at now: EvaluationTime) -> Bool {
        guard let opened = openedAt else { return true }
        assert(records == 0 && failures == 0, "an open breaker counts afresh")
        guard now.milliseconds - opened.milliseconds >= limits.pause else { return false }
        openedAt = nil
        return true
    }

    package var isOpen: Bool { openedAt != nil }
}

/// Reported when the breaker opens: the worker is not ready until it closes.
package struct BreakerOpen: LoopNotice {
    package var description: String {
        "too many requests met a bug of this program (dead letters with dlq.reason internal): nothing is taken for a while"
    }
}

/// Reported when records are tried again.
package struct BreakerClosed: LoopNotice {
    package var description: String { "requests are taken again" }
}
