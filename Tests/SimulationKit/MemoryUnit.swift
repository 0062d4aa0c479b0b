package import Log

/// A unit of output in memory: keeps what is committed, and never fails.
package final class MemoryUnit: RecordUnit {
    private var pending: [OutboundRecord] = []
    package private(set) var outputs: [OutboundRecord] = []
    /// The positions of each commit.
    package private(set) var commits: [[PartitionPosition]] = []
    package let isAtomic = true
    package let timeShare = 0.0
    /// Called by an abort, to take the source back.
    package var rewind: (() -> Void)?

    package init() {}

    package func begin() { precondition(pending.isEmpty, "one unit at a time") }
    package func append(_ records: [OutboundRecord]) { pending += records }

    package func commit(_ positions: [PartitionPosition], of generation: Generation) {
        outputs += pending
        commits.append(positions)
        pending = []
    }

    package func abort() {
        pending = []
        rewind?()
    }
}
