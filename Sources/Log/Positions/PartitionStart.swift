/// The place where reading of a partition starts.
package enum PartitionStart {
    package struct Report: Sendable, Equatable {
        /// An upper bound of the requests that will never be read: retention deleted them, or the offset was moved
        /// forward.
        package var skippedAtMost: Int64 = 0
        /// An upper bound of the requests among these that retention deleted.
        package var deletedAtMost: Int64 = 0
        /// A note for the operator; nil = none.
        package var note: String?
        /// The group has an offset of the partition that a worker committed; if not, at-least-once delivery marks that.
        package var hasCommitted = true
        /// An offset after the group's, up to which everything is answered: the ledger's mark. The log commits it
        /// before it reads, because no later request may arrive whose batch would commit it. Where retention has taken
        /// more, reading starts after it; but an offset of ours that no mark belongs to would look like a lost ledger.
        package var uncommitted: Int64?

        package init() {}
    }
}
