/// The group's decision about our partitions. Answer each with ``Consumer/assign(_:)`` or ``Consumer/unassign()``.
package enum GroupChange: Sendable, Equatable {
    case assigned([Int32])
    /// Revoked in order: commits still count until ``Consumer/unassign()``.
    case revoked([Int32])
    /// Another member may own them already.
    case lost([Int32])
}
