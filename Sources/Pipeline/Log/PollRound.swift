/// The outcome of one poll: records or a change of assignment, never both.
package struct PollRound: Sendable {
    package var records: [PolledRecord] = []
    package var generation = Generation(0)
    package var change: AssignmentChange?
    /// The input is at its end (a capture's last line).
    package var ended = false
    /// A partition that cannot be read further; comes without records or a change.
    package var damaged: PartitionDamage?

    package init() {}
}

/// A polled record: decoded by the log already, or a capture's line that a lane decodes.
package enum PolledRecord: Sendable {
    case record(InboundRecord)
    /// Lines are ranges of a shared chunk, so that no line is copied.
    case captureLine(chunk: [UInt8], range: Range<Int>, lineNumber: Int)
}

package struct BatchLimits: Sendable, Equatable {
    package var records: Int
    package var bytes: Int
    package var milliseconds: Int

    package init(records: Int = 10_000, bytes: Int = 8_388_608, milliseconds: Int = 100) {
        self.records = records
        self.bytes = bytes
        self.milliseconds = milliseconds
    }
}

package enum AssignmentChange: Sendable, Equatable {
    /// Ours from here on; also sent again, for partitions that are ours already, after an abort that leaves open what
    /// was committed. Answered with ``RecordLog/beginRestore(_:kept:)``; no record of a partition comes before
    /// ``RecordLog/start(_:mark:ledgerIsEmpty:)``.
    case assigned([Int32])
    /// Revoked in order: complete work may still be committed before ``RecordLog/releaseRevoked()``.
    case revoked([Int32])
    /// Gone already: no work on them may be committed.
    case lost([Int32])
}

/// The assignment under which records were polled. The log makes it up; a commit carries its batch's own, so that a
/// member that has lost its partitions is fenced, whatever it has been assigned since (KIP-447).
package struct Generation: Hashable, Sendable {
    package let number: Int
    package init(_ number: Int) { self.number = number }
}
