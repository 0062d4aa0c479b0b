/// How far the requests of a partition were applied, and by which group: what a partition's ledger says of positions.
/// Older versions wrote less of it.
package struct PositionMark: Hashable, Sendable {
    package enum Delivery: UInt8, Sendable {
        /// Offsets, outputs and ledger became durable together.
        case transaction
        /// The ledger was written before the offset was committed.
        case atLeastOnce
        /// The same as ``atLeastOnce``, by a worker that had found no offset committed by a worker, and had not
        /// committed one yet.
        case atLeastOnceUncommitted
    }

    /// The offset after the last applied request; nil = not written (an older version's transactions).
    package var appliedOffset: Int64?
    /// `group.id` in UTF-8, never compared as text; nil = an older version's mark.
    package var group: [UInt8]?
    /// nil = an older version's mark.
    package var delivery: Delivery?
    /// 16 random bytes, repeated in every mark since: what is kept of a ledger counts as long as its newest mark has them.
    /// nil = an older version's mark, or a command's.
    package var identity: [UInt8]?
    /// The transactional id of the worker that wrote the mark, in UTF-8; nil = it has none, or is of an older version.
    package var writer: [UInt8]?
    /// How many partitions the requests had when keys were placed; nil = an older version's mark. 0 = the keys of a move
    /// are not all here yet; -N = there were N, and the keys were moved to another ledger.
    package var partitions: Int32?
    /// The move that wrote this mark, by its random bytes: a ledger is moved into one other. nil = a worker wrote it, or
    /// an older version.
    package var move: [UInt8]?

    package init(
        appliedOffset: Int64? = nil,
        group: [UInt8]? = nil,
        delivery: Delivery? = nil,
        identity: [UInt8]? = nil,
        writer: [UInt8]? = nil,
        partitions: Int32? = nil,
        move: [UInt8]? = nil
    ) {
        (self.appliedOffset, self.group, self.identity) = (appliedOffset, group, identity)
        (self.delivery, self.writer, self.partitions, self.move) = (delivery, writer, partitions, move)
    }

    /// Requests before this offset were applied and answered, though their offset may not have been committed. If a
    /// transaction wrote the mark, the committed offset itself says so, and the mark skips nothing.
    package var skipsBefore: Int64 {
        // In a mark of an older version (nil) only at-least-once delivery wrote an offset.
        delivery == .transaction ? 0 : appliedOffset ?? 0
    }
}

/// A partition and the next offset to read of it.
package struct PartitionPosition: Sendable, Equatable {
    package var partition: Int32
    package var offset: Int64

    package init(partition: Int32, offset: Int64) { (self.partition, self.offset) = (partition, offset) }
}

/// The assignment under which records were polled, as numbered by the member. A commit carries its batch's number, so a
/// member that lost its partitions is fenced, even if it got new ones since (KIP-447).
package struct Generation: Hashable, Sendable {
    package let number: Int
    package init(_ number: Int) { self.number = number }
}
