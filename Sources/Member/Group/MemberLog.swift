package import KafkaPorts
package import Log

/// A member in the roles that the loop calls, at the moments that a clock names.
package final class MemberLog: RequestSource, GroupMember, LedgerSource, DetachedUnit {
    package let core: KafkaMember
    private let clock: () -> Moment
    /// Whether the worker was asked to stop.
    private let isStopping: () -> Bool
    /// Called with the outcome of the unit that is being written.
    private var done: (@Sendable () -> Void)?

    package init(_ core: KafkaMember, clock: @escaping () -> Moment, isStopping: @escaping () -> Bool = { false }) {
        (self.core, self.clock, self.isStopping) = (core, clock, isStopping)
    }

    package var roles: LogRoles { LogRoles(source: self, detached: self, ledgers: self) }

    package var member: (any GroupMember)? { self }

    /// Calls the member, then says whether the unit has an outcome.
    private func now<Result>(_ call: (Moment) throws -> Result) rethrows -> Result {
        let now = clock()
        if isStopping() { core.hurry(at: now) }
        defer { tellOutcome() }
        return try call(now)
    }

    private func tellOutcome() {
        guard let done, core.hasOutcome else { return }
        self.done = nil
        done()
    }

    // MARK: Requests and the group

    package func poll(_ limits: BatchLimits, waitMilliseconds: Int) throws -> PollRound {
        try now { try core.poll(limits, waiting: waitMilliseconds, at: $0) }
    }

    package var group: [UInt8]? { core.group }
    package var isAwaiting: Bool { core.isAwaiting }
    package func serve() throws -> AssignmentChange? { try now { try core.serve(at: $0) } }

    package func start(_ partition: Int32, mark: PositionMark?, ledgerIsEmpty: Bool) throws -> PartitionStart {
        try now { try core.start(partition, mark: mark, ledgerIsEmpty: ledgerIsEmpty, at: $0) }
    }

    package func hold(_ partition: Int32) throws { try core.hold(partition) }
    package func releaseRevoked() throws { try core.release() }

    // MARK: Ledgers

    package func beginRestore(_ partitions: [Int32], kept: Set<Int32>) throws {
        now { core.restore(kept: kept, at: $0) }
    }

    package func restore(_ records: Int, waitMilliseconds: Int) throws -> RestoreRound {
        try now { try core.readLedgers(most: records, waiting: waitMilliseconds, at: $0) }
    }

    // MARK: Outputs

    package var isDetached: Bool { true }
    package var isAtomic: Bool { core.isAtomic }
    package var timeShare: Double { core.timeShare }

    package func start(
        _ records: [[OutboundRecord]],
        _ positions: [PartitionPosition],
        of generation: Generation,
        done: @escaping @Sendable () -> Void
    ) throws {
        try core.write(records, positions, of: generation, at: clock())
        self.done = done
    }

    package func finish() throws { try core.takeOutcome() }
    package func stepAbort() throws -> Bool { try now { try core.abort(at: $0) } }
}
