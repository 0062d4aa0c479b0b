internal import Kafka
internal import Pipeline
internal import Settings
internal import Streams

/// The arguments of `reset`.
package struct ResetScope: Equatable {
    /// The positions that the group's offsets are set to.
    package enum Target: Equatable {
        case end
        case beginning
        /// The offset that the ledger's mark names.
        case applied
        /// The group's present offset.
        case committed
        case offset(Int64)
    }

    package var target = Target.end
    /// Keys and everything else stay in the ledger; only its marks are set to the new offsets.
    package var keepsLedger = false
    /// nil = all of them.
    package var partitions: Set<Int32>?

    package init() {}

    func contains(_ partition: Int32) -> Bool { partitions?.contains(partition) ?? true }
}

extension ResetScope {
    /// A partition's new offset; nil = it has none, and the partition was not asked for by its number.
    func offset(of found: RequestOffsets, mark: PartitionMark?) throws(CommandFault) -> Int64? {
        let place: Int64?
        switch target {
        case .end: place = found.high
        case .beginning: place = found.low
        case .offset(let offset): place = offset
        case .committed: place = found.committed
        case .applied:
            // A move marks every partition, those without an applied offset too: they go back to where the group was.
            let isMoved = mark?.position.partitions ?? 0 < 0
            place = mark?.position.appliedOffset ?? (isMoved ? found.committed ?? found.low : nil)
        }
        guard let wanted = place else {
            if partitions == nil { return nil }
            let lack = target == .committed ? "the group has no offset" : "the ledger has no applied offset"
            throw CommandFault("\(lack) for partition \(found.partition): choose another target.")
        }
        guard wanted <= found.high else {
            throw CommandFault(
                "offset \(wanted) is past partition \(found.partition)'s end \(found.high): choose another target."
            )
        }
        return wanted
    }
}
