internal import AppAttest
internal import Streams
internal import Threads

/// A loop as others see it, at one moment.
package struct LoopSnapshot: Sendable {
    package enum Condition: Sendable, Equatable {
        /// The group has not assigned any partition yet, not even none.
        case waiting
        case restoring
        /// Nothing is taken: the breaker is open, or the clocks disagree.
        case paused(String)
        case running
        case stopping
    }

    /// A partition and what its ledger has.
    package struct Partition: Sendable {
        package var number: Int32
        package var keys = 0
        /// ``PartitionLedger/endedKeys``.
        package var endedKeys = 0
        /// ``KeyLedger/oddCount``.
        package var oddKeys = 0
        package var challenges = 0
        package var tokens = 0
        /// Milliseconds since 1970; nil = none yet.
        package var streamTime: Int64?
        /// Why it is not read; nil = it is.
        package var hold: String?

        package init(number: Int32) { self.number = number }
    }

    package var condition = Condition.waiting
    package var partitions: [Partition] = []
    package var restoring: RestoreProgress?
    package var batchesInFlight = 0
    package var isBreakerOpen = false
    /// Milliseconds that the wall clock is ahead of the time of what was read and written: the least of the last minute or
    /// two.
    package var clockOffset: Int64?

    package init() {}
}

extension BatchLoop {
    /// Takes a snapshot, on the loop's thread; costs some time for each partition.
    package func snapshot() -> LoopSnapshot {
        owner.check()
        var snapshot = LoopSnapshot()
        snapshot.condition = condition
        let held = held
        snapshot.partitions = (member?.assigned ?? []).map { partition($0, held[$0]) }
        snapshot.restoring = restoring
        snapshot.batchesInFlight = inFlight.count
        snapshot.isBreakerOpen = breaker.isOpen
        // A doubt outlasts what is read.
        snapshot.clockOffset = now.flatMap { clocks.broker.offset(at: $0) ?? clocks.broker.lead(at: $0) }
        return snapshot
    }

    private var condition: LoopSnapshot.Condition {
        if phase.isStopped { return .stopping }
        if assignment.restoration != nil { return .restoring }
        if let clockDoubt { return .paused(clockDoubt.description) }
        if breaker.isOpen { return .paused(BreakerOpen().description) }
        return member.map { $0.assigned == nil } ?? false ? .waiting : .running
    }

    private func partition(_ number: Int32, _ hold: String?) -> LoopSnapshot.Partition {
        var partition = LoopSnapshot.Partition(number: number)
        partition.hold = hold
        guard let ledger = ledgers[settings.ledgerPartition(number)] else { return partition }
        partition.keys = ledger.keys.count
        (partition.endedKeys, partition.oddKeys) = (ledger.endedKeys, ledger.keys.oddCount)
        partition.challenges = ledger.challenges.count
        partition.tokens = ledger.tokens.count
        partition.streamTime = ledger.streamTime.milliseconds >= 0 ? ledger.streamTime.milliseconds : nil
        return partition
    }
}
