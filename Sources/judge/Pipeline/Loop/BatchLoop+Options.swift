package import AppAttest
package import Streams

extension BatchLoop {
    package struct Options: Sendable {
        package var batch = BatchLimits()
        /// Most batches between poll and commit; two keep the lanes busy during a commit, a third covers encoding.
        package var batchesInFlight = 3
        /// While a batch smaller than this is in flight, no other starts: its commit takes longer than the lanes do,
        /// and records that arrive meanwhile form one batch. 0 = a batch starts after any other.
        package var smallBatch = 0
        package var breaker = Breaker.Limits()
        /// How long partitions being revoked may wait for the oldest batch, in milliseconds.
        package var revokeMilliseconds: Int64 = 2_000
        /// The records that the loop itself works on.
        package var work = WorkSlot()
        /// The meter of the stages' cost.
        package var meter = StageMeter()
        /// Records that may crash the process.
        package var suspects = CrashSuspects()
        /// This loop's slot among those of the process.
        package var slot = ExclusiveSection(loops: 1).slots[0]
        /// Keeps copies of ledgers beyond the process; nil = none are made.
        package var snapshots: (any LedgerSnapshots)?
        /// Called with the suspects that the committed positions have passed; on the loop's thread.
        package var passed: (@Sendable ([WorkItem]) -> Void)?
        /// Sees every record with its verdict, on the loop's thread; for explanations only, since it slows Admit down.
        package var observer: Observer?
        /// Whether it sees what was presented and expected at checks that passed.
        package var showsPassedChecks = false
        /// Asked for each record in its order, on the loop's thread; one that is not new is left out and counted.
        package var isNew: (@Sendable (DecodedRecord) throws -> Bool)?
        /// The time that records' ages are judged by where there is no wall clock; nil = they are not judged.
        package var agesJudgedAt: EvaluationTime?
        package init() {}
    }

    /// The outcome of ``tick()``.
    package enum Progress: Sendable, Equatable {
        /// Something moved; call again at once.
        case worked
        /// Batches are with the lanes, or nothing came: call again when a result is posted, or after a while.
        case waiting
        /// The streams failed in a way that may pass, or the breaker is open: call again after a pause.
        case backOff
        /// The input has ended and everything is committed.
        case finished
    }

    var work: WorkSlot { options.work }
    var slot: ExclusiveSection.Slot { options.slot }
    var settings: PipelineSettings { stages.settings }
    var member: (any GroupMember)? { streams.source.member }
}
