internal import DeviceLab
internal import Pipeline
package import Streams
internal import TestKit

/// In-memory streams under a seed: random batch sizes, commits that fail before or after they took effect, faults
/// of every other call, rebalances. They keep delivered and visible records for the test.
package final class SimulatedStreams: RequestSource, RecordTransaction {
    /// The state after a commit's fault.
    package enum CommitFault: CaseIterable, Sendable {
        /// Neither outputs nor positions became visible.
        case nothingDone
        /// Outputs are visible, positions are not: what at-least-once allows, and what redelivers.
        case outputsOnly
    }

    package struct Chances: Sendable {
        package var commitFault = 0.0
        package var rebalance = 0.0
        package var emptyPoll = 0.1
        /// Of each call that is no commit.
        package var callFault = 0.0
        /// A poll that assigns the partitions once more, whatever is in flight.
        package var assignedAgain = 0.0
        /// Says `ended` as soon as everything was read, as a capture does, not when everything is committed.
        package var endsWhenRead = false
        package var faults = CommitFault.allCases
        package init() {}
    }

    private let partitions: [Int32: [InboundRecord]]
    private let chances: Chances
    private var random: SeededRandom
    private var read: [Int32: Int] = [:]
    private var committed: [Int32: Int] = [:]
    private var pending: [OutboundRecord] = []
    private var isAssigned = false
    /// Changes come with polls only, and there are no ledgers.
    private let memory = MemoryMember()

    /// Everything that a reader of the output topics has seen, in order.
    package private(set) var visible: [OutboundRecord] = []
    package private(set) var commits = 0
    package private(set) var faults = 0

    /// - Parameter records: per partition in offset order.
    package init(records: [InboundRecord], seed: UInt64, chances: Chances = Chances()) {
        partitions = Dictionary(grouping: records, by: \.partition)
        self.chances = chances
        random = SeededRandom(seed: seed)
        memory.releasing = { [unowned self] in
            _ = try abort()
            isAssigned = false
        }
    }

    package func poll(_ limits: BatchLimits, waitMilliseconds: Int) throws -> PollRound {
        try maybeFail(requiresAbort: chance(0.5))
        var round = PollRound()
        if !isAssigned {
            isAssigned = true
            round.events = [memory.event(.assigned(partitions.keys.sorted()))]
            return round
        }
        if chance(chances.rebalance) {
            round.events = [chance(0.5) ? .revoked(partitions.keys.sorted()) : .lost(partitions.keys.sorted())]
            return round
        }
        if chance(chances.assignedAgain) {
            round.events = [memory.event(.assigned(partitions.keys.sorted()))]
            return round
        }
        if chance(chances.emptyPoll) { return round }
        let most = Int.random(in: 1...max(1, limits.records), using: &random)
        for partition in partitions.keys.sorted().shuffled(using: &random) {
            guard let records = partitions[partition] else { continue }
            while round.records.count < most, read[partition, default: 0] < records.count, !chance(0.05) {
                round.records.append(.uncopied(of: records[read[partition, default: 0]]))
                read[partition, default: 0] += 1
            }
        }
        let reached = chances.endsWhenRead ? read : committed
        round.ended = partitions.allSatisfy { reached[$0.key, default: 0] == $0.value.count }
        return round
    }

    package func write(
        _ records: [[OutboundRecord]],
        _ positions: [PartitionPosition],
        of generation: Generation
    ) throws {
        try maybeFail()
        precondition(pending.isEmpty, "one transaction at a time")
        let outputs = Array(records.joined())
        // Part of the transaction may have been taken before the fault.
        pending += outputs.prefix(outputs.count / 2)
        try maybeFail()
        pending += outputs.dropFirst(outputs.count / 2)
        try commit(positions)
    }

    package let isAtomic = true
    package let timeShare = 0.0
    package var member: (any GroupMember)? { memory }

    private func commit(_ positions: [PartitionPosition]) throws {
        if chance(chances.commitFault) {
            faults += 1
            if chances.faults.randomElement(using: &random) == .outputsOnly { visible += pending }
            throw SimulatedFault(.abortable)
        }
        commits += 1
        visible += pending
        pending = []
        for position in positions {
            guard let records = partitions[position.partition] else { continue }
            let index = records.firstIndex { $0.offset >= position.offset } ?? records.count
            precondition(index >= committed[position.partition, default: 0], "positions never go back")
            committed[position.partition] = index
        }
    }

    package func abort() throws -> Bool {
        try maybeFail(requiresAbort: chance(0.5))
        pending = []
        read = committed
        return true
    }

    private func maybeFail(requiresAbort: Bool = true) throws {
        guard chance(chances.callFault) else { return }
        faults += 1
        throw SimulatedFault(requiresAbort ? .abortable : .retriable)
    }

    private func chance(_ share: Double) -> Bool { Double.random(in: 0..<1, using: &random) < share }
}
