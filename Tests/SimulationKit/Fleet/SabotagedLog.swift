internal import Log

/// Bugs of the loop's units that the simulation must find; a log between loop and member can act them out.
package enum LogSabotage: Sendable, CaseIterable {
    /// Positions are committed before the outputs are appended.
    case commitBeforeAppend
    /// A unit is committed although the log did not take all of it.
    case appendFaultIgnored
    /// Positions are committed under the generation of that moment.
    case freshGeneration
}

extension Generation {
    /// Stands for "the present generation", which no correct commit uses.
    static let fresh = Generation(-1)
}

/// A member's log as a loop with a planted bug would use it.
final class SabotagedLog: RecordLog {
    private let log: any RecordLog
    private let sabotage: LogSabotage
    /// Outputs that are appended after the commit.
    private var late: [OutboundRecord] = []

    init(_ log: any RecordLog, _ sabotage: LogSabotage) {
        self.log = log
        self.sabotage = sabotage
    }

    func begin() throws {
        late = []
        try log.begin()
    }

    func append(_ records: [OutboundRecord]) throws {
        switch sabotage {
        case .commitBeforeAppend: late += records
        case .appendFaultIgnored: try? log.append(records)
        case .freshGeneration: try log.append(records)
        }
    }

    func commit(_ positions: [PartitionPosition], of generation: Generation) throws {
        let generation = sabotage == .freshGeneration ? .fresh : generation
        try log.commit(positions, of: generation)
        guard sabotage == .commitBeforeAppend else { return }
        try log.begin()
        try log.append(late)
        try log.commit([], of: generation)
    }

    // MARK: As they are

    func poll(_ limits: BatchLimits, waitMilliseconds: Int) throws -> PollRound {
        try log.poll(limits, waitMilliseconds: waitMilliseconds)
    }

    func serve() throws -> AssignmentChange? { try log.serve() }
    func abort() throws { try log.abort() }

    func beginRestore(_ partitions: [Int32], kept: Set<Int32>) throws {
        try log.beginRestore(partitions, kept: kept)
    }

    func restore(_ records: Int, waitMilliseconds: Int) throws -> RestoreRound {
        try log.restore(records, waitMilliseconds: waitMilliseconds)
    }

    func start(_ partition: Int32, mark: PositionMark?, ledgerIsEmpty: Bool) throws -> PartitionStart {
        try log.start(partition, mark: mark, ledgerIsEmpty: ledgerIsEmpty)
    }

    func hold(_ partition: Int32) throws { try log.hold(partition) }
    func releaseRevoked() throws { try log.releaseRevoked() }
    func close() throws { try log.close() }
    var group: [UInt8]? { log.group }
    var hasLedger: Bool { log.hasLedger }
    var isAtomic: Bool { log.isAtomic }
    var unitTimeShare: Double { log.unitTimeShare }
}
