package import KafkaPorts
package import Streams

/// A member in the roles that the loop calls, at the moments that a clock names.
package final class MemberStreams: RequestSource, GroupMember, RecordTransaction {
    package let core: KafkaMember
    private let clock: () -> Moment
    /// Whether the worker was asked to stop.
    private let isStopping: () -> Bool

    package init(_ core: KafkaMember, clock: @escaping () -> Moment, isStopping: @escaping () -> Bool = { false }) {
        (self.core, self.clock, self.isStopping) = (core, clock, isStopping)
    }

    package var roles: StreamRoles { StreamRoles(source: self, transaction: self, hasLedgers: true) }

    package var member: (any GroupMember)? { self }

    private func now<Result>(_ call: (Moment) throws -> Result) rethrows -> Result {
        let now = clock()
        if isStopping() { core.hurry(at: now) }
        return try call(now)
    }

    // MARK: Requests and the group

    package func poll(_ limits: BatchLimits, waitMilliseconds: Int) throws -> PollRound {
        try now { try core.poll(limits, waiting: waitMilliseconds, at: $0) }
    }

    package var group: [UInt8]? { core.group }
    package var transactionalID: [UInt8]? { core.transactionalID }
    package func ledgerIdentity(of partition: Int32) -> [UInt8]? { core.ledgerIdentity(of: partition) }
    package func ledgerMark(of partition: Int32) -> (offset: Int64, identity: [UInt8])? {
        core.ledgerMark(of: partition)
    }
    package var partitionCount: Int32? { core.settings.partitions }
    package var isAwaiting: Bool { core.isAwaiting }
    package var assigned: [Int32]? { core.assigned }
    package var holds: [Int32: String] { core.holds }
    package func isFirstOffsetDue(_ partition: Int32) -> Bool { core.isFirstOffsetDue(partition) }
    package func serve() throws -> [PartitionEvent] { try now { try core.serve(at: $0) } }
    package func release() throws { try core.release() }

    // MARK: Ledgers

    package func restore(kept: Set<Int32>, of announcement: Generation) {
        now { core.restore(kept: kept, of: announcement, at: $0) }
    }

    package func readLedgers(_ records: Int, waitMilliseconds: Int) throws -> [PartitionEvent] {
        try now { try core.readLedgers(most: records, waiting: waitMilliseconds, at: $0) }
    }

    package var standbyLag: Int64? { core.follows ? core.standbyLag.values.reduce(0, +) : nil }

    package func readStandby(
        _ records: Int,
        mayWait: Bool,
        kept: Set<Int32>,
        reading: Set<Int32>
    ) -> [StandbyEvent] {
        now { core.readStandby(most: records, mayWait: mayWait, kept: kept, reading: reading, at: $0) }
    }

    package func ledgerIsWhole(
        _ partition: Int32,
        mark: PositionMark?,
        isEmpty: Bool,
        of announcement: Generation
    ) throws -> PartitionEvent? {
        try now { try core.ledgerIsWhole(partition, mark: mark, isEmpty: isEmpty, of: announcement, at: $0) }
    }

    package func ledgerIsUnusable(
        _ partition: Int32,
        _ sentence: String,
        of announcement: Generation
    ) -> PartitionEvent? {
        now { _ in core.ledgerIsUnusable(partition, sentence, of: announcement) }
    }

    // MARK: Outputs

    package var isAtomic: Bool { core.isAtomic }
    package var timeShare: Double { core.timeShare }
    package var appendTime: Int64? { core.appendTime }
    package var hasOutcome: Bool { core.hasOutcome }

    package func write(
        _ records: [[OutboundRecord]],
        _ positions: [PartitionPosition],
        of generation: Generation
    ) throws { try core.write(records, positions, of: generation, at: clock()) }

    package func takeOutcome() throws { try core.takeOutcome() }
    package func abort() throws -> Bool { try now { try core.abort(at: $0) } }
}
