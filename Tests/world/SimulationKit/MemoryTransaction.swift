package import Streams

/// A transaction in memory: keeps what is committed, and never fails.
package final class MemoryTransaction: RecordTransaction {
    package private(set) var outputs: [OutboundRecord] = []
    /// The positions of each commit.
    package private(set) var commits: [[PartitionPosition]] = []
    package let isAtomic = true
    package let timeShare = 0.0
    /// Called by an abort, to take the source back.
    package var rewind: (() -> Void)?

    package init() {}

    package func write(_ records: [[OutboundRecord]], _ positions: [PartitionPosition], of generation: Generation) {
        outputs += records.joined()
        commits.append(positions)
    }

    package func abort() -> Bool {
        rewind?()
        return true
    }
}
