internal import Log

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
    /// While a unit was written away from the loop's thread.
    case polledInCommit, revokedInCommit, lostInCommit, faultInCommit
    case slowMarkers, concurrentTransactions, compaction, redelivered, appliedSkipped, halfFlushed
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

    package func note(_ text: @autoclosure () -> String) {
        if trace != nil { trace?.append(text()) }
    }
}

/// A fault of the simulated world.
package struct SimulatedFault: LogFault, CustomStringConvertible {
    package let kind: FaultKind

    package init(_ kind: FaultKind) { self.kind = kind }

    package var endsLoop: Bool { kind == .fatal || kind == .fencedInstance }
    package var requiresAbort: Bool { kind != .retriable && kind != .concurrentTransactions }
    package var isRecordFault: Bool { kind == .recordFault }
    package var description: String { kind.rawValue }
}

/// The process dies here: no fault that a loop could ride out.
package struct SimulatedCrash: Error {
    package init() {}
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

    package static let none = FaultChances()
    package init() {}
}
