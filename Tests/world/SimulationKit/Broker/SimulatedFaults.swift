internal import Streams

/// The faults that a fleet meets. A fault that no seed met is not tested.
package enum FaultKind: String, CaseIterable, Sendable {
    case crash, crashInCall, restartSameID, restartOtherID, zombieReplaced, gracefulStop, join
    case pausePastSession, pausePastTransaction, pauseInCall, slowCall, longWait, reload
    case retriable, abortable, fatal, produceFault, recordFault
    case indefiniteCommitted, indefiniteLost, indefiniteDelayed
    case fencedProducer, fencedGeneration, fencedInstance, sessionExpired, transactionTimeout, staticTakeover
    case revoked, lost, restoreInterrupted, restoreWaited, startedWhileRestoring, restoredTail, announcedAnew
    case slowLedger, restoredFurther
    case unstableOffsets, hiddenRepeat, lateRefused
    /// A process dies inside a transaction of one partition, and an heir ends it.
    case leftOpen, orphanAborted
    /// While a transaction was written away from the loop's thread.
    case polledInCommit, revokedInCommit, lostInCommit, faultInCommit
    case slowMarkers, concurrentTransactions, compaction, redelivered, appliedSkipped, halfFlushed
    /// Of the client library: its steps of a partition,
    case stepOvertaken, startDelayed, seekTimedOut, pauseIgnored, fetchAsleep, revokeHidden
    /// what it reads,
    case offsetGone, damagedOnce, damagedOnDisk
    /// its membership,
    case lostBeforeEvent, pollGap, fencedMember, clientNeverEnds, offsetCommitUnanswered
    /// its producers,
    case ackWithoutOffset, queueFull, offsetsUnanswered, initUnanswered, initArrivedLate, throttled
    /// and its queries.
    case queryUnanswered, staleLeader
    /// What operators, disks and machines do under running workers.
    case ledgerRecreated, ledgerTruncated, requestsRecreated, retentionOvertook
    case partitionsAdded, clockStep, machineSleep
    /// Of disks with copies of ledgers.
    case snapshotWritten, snapshotUsed, snapshotRefused, snapshotFlipped, snapshotTorn, snapshotOld, snapshotSwapped
    case standbyUsed
    /// Certificates are renewed, and clients made anew.
    case renewed

    /// Those that a whole fleet meets.
    package static let ofWorld: [FaultKind] = [
        .ledgerRecreated, .ledgerTruncated, .requestsRecreated, .retentionOvertook, .partitionsAdded, .clockStep,
        .machineSleep, .damagedOnDisk,
    ]
}

/// How often each of them happened.
package final class FaultCounts: @unchecked Sendable {
    // Confined to the thread of one fleet; merged when it is done.
    package private(set) var counts: [FaultKind: Int] = [:]
    /// The trace in order; nil = not recorded.
    package var trace: [String]?

    package init() {}

    package func add(_ kind: FaultKind, _ count: Int = 1) {
        guard count > 0 else { return }
        counts[kind, default: 0] += count
        trace?.append(kind.rawValue)
    }

    /// Adds another fleet's counts.
    package func add(_ others: [FaultKind: Int]) { counts.merge(others, uniquingKeysWith: +) }

    package func note(_ text: @autoclosure () -> String) { trace?.append(text()) }
}

/// A fault of the simulated world.
package struct SimulatedFault: SourceFault, CustomStringConvertible {
    package let kind: FaultKind
    package let limitingTopic: String?

    /// - Parameter limitingTopic: of a record that is too large for its topic.
    package init(_ kind: FaultKind, limitingTopic: String? = nil) {
        (self.kind, self.limitingTopic) = (kind, limitingTopic)
    }

    package var endsLoop: Bool { kind == .fatal || kind == .fencedInstance }
    package var requiresAbort: Bool { kind != .retriable && kind != .concurrentTransactions }
    package var isRecordFault: Bool { kind == .recordFault }
    package var description: String { kind.rawValue }
}

/// How rough the world is; all shares are of one call or one step.
package struct FaultChances: Sendable {
    package var retriable = 0.0
    package var abortable = 0.0
    package var fatal = 0.0
    package var crash = 0.0
    package var slow = 0.0
    package var pause = 0.0
    package var produceFault = 0.0
    /// Of a commit.
    package var indefinite = 0.0
    /// Of EndTxn and TxnOffsetCommit: the library asked twice, and the first copy is still on its way.
    package var hiddenRepeat = 0.0
    /// Of the client library.
    package var client = ClientChances()

    package static let none = FaultChances()
    package init() {}
}

/// How rough the client library is; shares of one call or one step.
package struct ClientChances: Sendable {
    /// A thread loses its core between taking a step's version and queueing the step.
    package var preempted = 0.0
    package var seekTimedOut = 0.0
    package var pauseIgnored = 0.0
    package var damagedOnce = 0.0
    package var offsetGone = 0.0
    /// Of losses: known some time before their event.
    package var lostBeforeEvent = 0.0
    package var fencedMember = 0.0
    /// Of discarded clients.
    package var neverEnds = 0.0
    package var offsetCommitUnanswered = 0.0
    package var ackWithoutOffset = 0.0
    package var queueFull = 0.0
    package var offsetsUnanswered = 0.0
    package var initUnanswered = 0.0
    /// Of a commit, in a script; ``FaultChances/indefinite`` in a fleet.
    package var endUnanswered = 0.0
    /// For as long as a query waits.
    package var queryUnanswered = 0.0
    /// Until the world is calm.
    package var brokerSilent = 0.0
    package var staleLeader = 0.0
    /// How many bytes of outputs arrive in a second; 0 = all of them at once.
    package var bytesPerSecond: Int64 = 0

    package init() {}

    /// - Parameter roughness: multiplies every share.
    package static func rough(_ roughness: Double) -> Self {
        var chances = ClientChances()
        chances.preempted = 0.1 * roughness
        chances.seekTimedOut = 0.01 * roughness
        chances.pauseIgnored = 0.03 * roughness
        chances.damagedOnce = 0.002 * roughness
        chances.offsetGone = 0.002 * roughness
        chances.lostBeforeEvent = 0.5
        chances.fencedMember = 0.03 * roughness
        chances.neverEnds = 0.2
        chances.offsetCommitUnanswered = 0.05 * roughness
        chances.ackWithoutOffset = 0.005 * roughness
        chances.queueFull = 0.05 * roughness
        chances.offsetsUnanswered = 0.01 * roughness
        chances.initUnanswered = 0.05 * roughness
        chances.queryUnanswered = 0.02 * roughness
        chances.brokerSilent = 0.01 * roughness
        return chances
    }
}
