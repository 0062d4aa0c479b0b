package import AppAttest

/// What the ledger's record 04 says of its partition: how far its requests were applied, by whom, and the stream time.
/// Older versions wrote less of it.
package struct PartitionMark: Hashable, Sendable {
    package enum Delivery: UInt8, Sendable {
        /// Offsets, outputs and ledger became durable together.
        case transaction
        /// The ledger was written before the offset was committed.
        case atLeastOnce
        /// As ``atLeastOnce``, by a worker that had found no offset that a worker had committed, and had not committed one
        /// yet.
        case atLeastOnceUncommitted
    }

    /// The highest evaluation time so far; nil = none was noted.
    package var streamTime: EvaluationTime?
    /// The offset after the last applied request; nil = not written (an older version's transactions).
    package var appliedOffset: Int64?
    /// `group.id` in UTF-8, never compared as text; nil = an older version's mark.
    package var group: [UInt8]?
    /// nil = an older version's mark.
    package var delivery: Delivery?

    package init(
        streamTime: EvaluationTime? = nil,
        appliedOffset: Int64? = nil,
        group: [UInt8]? = nil,
        delivery: Delivery? = nil
    ) {
        self.streamTime = streamTime
        self.appliedOffset = appliedOffset
        self.group = group
        self.delivery = delivery
    }

    /// Requests before this offset were applied and answered, though their offset may not have been committed. Where a
    /// transaction wrote the mark the committed offset says so itself, and nothing is skipped for the mark's sake.
    package var skipsBefore: Int64 {
        // Only at-least-once delivery of older versions wrote an offset at all.
        delivery == .transaction ? 0 : appliedOffset ?? 0
    }
}

/// Where the reading of a partition begins, or why it does not.
package enum PartitionStart: Sendable, Equatable {
    package struct Report: Sendable, Equatable {
        /// Requests, at most, that will never be read: retention took them, or the offset was moved forward.
        package var skippedAtMost: Int64 = 0
        /// What users are to be told; nil = nothing.
        package var note: String?
        /// The group has an offset of it that a worker committed: others are marked as such in at-least-once delivery.
        package var hasCommitted = true
        /// The start lies ahead of the group's offset, and is answered up to there: the log commits it before anything is
        /// read, since there may never be another request to commit it with.
        package var isUncommitted = false

        package init() {}
    }

    case started(Report)
    /// Nothing is read until somebody has looked: the sentence says what happened and what helps.
    case held(String)
}

/// News of one partition that others do not stop for.
package struct PartitionNotice: LogFault, Equatable, CustomStringConvertible {
    package let partition: Int32
    package let sentence: String
    /// Whether the partition is held; else it is read all the same.
    package let isHeld: Bool

    package let endsLoop = false
    package let requiresAbort = false

    package init(partition: Int32, sentence: String, isHeld: Bool) {
        self.partition = partition
        self.sentence = sentence
        self.isHeld = isHeld
    }

    package var description: String {
        "partition \(partition)" + (isHeld ? " is held, the others go on: " : ": ") + sentence
    }
}
