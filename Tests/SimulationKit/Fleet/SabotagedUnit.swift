internal import Log

/// Bugs of the loop's units that the simulation must find; a unit between loop and member can act them out.
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

/// A member's unit as a loop with a planted bug would use it.
final class SabotagedUnit: RecordUnit {
    private let unit: any RecordUnit
    private let sabotage: LogSabotage
    /// Outputs that are appended after the commit.
    private var late: [OutboundRecord] = []

    init(_ unit: any RecordUnit, _ sabotage: LogSabotage) {
        self.unit = unit
        self.sabotage = sabotage
    }

    func begin() throws {
        late = []
        try unit.begin()
    }

    func append(_ records: [OutboundRecord]) throws {
        switch sabotage {
        case .commitBeforeAppend: late += records
        case .appendFaultIgnored: try? unit.append(records)
        case .freshGeneration: try unit.append(records)
        }
    }

    func commit(_ positions: [PartitionPosition], of generation: Generation) throws {
        let generation = sabotage == .freshGeneration ? .fresh : generation
        try unit.commit(positions, of: generation)
        guard sabotage == .commitBeforeAppend else { return }
        try unit.begin()
        try unit.append(late)
        try unit.commit([], of: generation)
    }

    func abort() throws { try unit.abort() }
    var isAtomic: Bool { unit.isAtomic }
    var timeShare: Double { unit.timeShare }
}
