internal import Kafka
internal import Pipeline
internal import Settings

/// The arguments of `reset`.
struct ResetScope: Equatable {
    /// Where the group's offsets go.
    enum Target: Equatable {
        case end
        case beginning
        /// The offset that the ledger's mark names.
        case applied
        /// The group's present offset.
        case committed
        case offset(Int64)
    }

    var target = Target.end
    /// Keys and everything else stay in the ledger; only its marks are set to the new offsets.
    var keepsLedger = false
    /// nil = all of them.
    var partitions: Set<Int32>?

    func contains(_ partition: Int32) -> Bool { partitions?.contains(partition) ?? true }
}

extension ResetScope {
    private static let targets = ["--to-applied", "--to-committed", "--to-beginning", "--to-end", "--to-offset"]

    init(_ arguments: Arguments) throws(UsageFault) {
        keepsLedger = arguments.has("--offsets-only")
        partitions = try arguments.partitions()
        let given = Self.targets.filter { arguments.has($0) }
        guard given.count <= 1 else { throw UsageFault("\(given.joined(separator: " and ")) contradict each other.") }
        guard let name = given.first else {
            guard !keepsLedger else {
                throw UsageFault("--offsets-only needs one of \(Self.targets.joined(separator: ", ")).")
            }
            return
        }
        switch name {
        case "--to-beginning": target = .beginning
        case "--to-applied": target = .applied
        case "--to-committed": target = .committed
        case "--to-offset": target = .offset(Int64(try arguments.integer(name) ?? 0))
        default: target = .end
        }
        guard keepsLedger || target == .beginning || target == .end else {
            throw UsageFault("\(name) needs --offsets-only: without it only --to-beginning and --to-end are valid.")
        }
    }
}

extension ResetScope {
    /// A partition's new offset; nil = it has none, and the partition was not asked for by its number.
    func offset(of found: RequestOffsets, mark: PartitionMark?) throws(CommandFault) -> Int64? {
        let wanted: Int64
        switch target {
        case .end: wanted = found.high
        case .beginning: wanted = found.low
        case .offset(let offset): wanted = offset
        case .committed:
            guard let offset = found.committed else {
                if partitions == nil { return nil }
                throw CommandFault("the group has no offset for partition \(found.partition): choose another target.")
            }
            wanted = offset
        case .applied:
            guard let offset = mark?.appliedOffset else {
                if partitions == nil { return nil }
                throw CommandFault(
                    "the ledger has no applied offset for partition \(found.partition): choose another target."
                )
            }
            wanted = offset
        }
        guard wanted <= found.high else {
            throw CommandFault(
                "offset \(wanted) is past partition \(found.partition)'s end \(found.high): choose another target."
            )
        }
        return wanted
    }
}
