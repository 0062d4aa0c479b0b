import Member
import SimulationKit
import Streams
import Testing

/// Positions that disagree: a fleet has worked, an operator was careless, and a fleet comes again.
@Suite("Positions after an operator's actions")
struct OperatorActionTests {
    /// A fleet that has answered the first half of its requests and stopped.
    private struct World {
        let fleet: SimulatedFleet
        let late: [InboundRecord]
        let answered: [RecordPlace: Int]

        init(
            _ seed: UInt64,
            _ delivery: SimulationPlan.Delivery,
            change: (inout SimulationPlan) -> Void = { _ in }
        ) throws {
            let traffic = try FleetTraffic.imitated.get()
            let records = try traffic.records(40, partitions: 3, seed: 90 + seed)
            var plan = SimulationPlan.rough(seed: seed, delivery: delivery)
            (plan.chaosSteps, plan.world) = (120, nil)
            change(&plan)
            late = Array(records[20...])
            fleet = SimulatedFleet(
                plan,
                records: Array(records[..<20]),
                settings: traffic.settings,
                scratch: try traffic.scratch()
            )
            let ended = fleet.run()
            #expect(ended, "seed \(seed)")
            #expect(fleet.held.isEmpty, "seed \(seed): \(fleet.holds)")
            #expect(fleet.breakdowns.isEmpty, "seed \(seed): \(fleet.breakdowns)")
            fleet.stopAll()
            answered = Self.answers(fleet)
        }

        /// How often each request was answered.
        static func answers(_ fleet: SimulatedFleet) -> [RecordPlace: Int] {
            let outputs = [OutputTopic.results, .deadLetters].flatMap { fleet.broker.visible($0).values.joined() }
            return outputs.reduce(into: [:]) {
                $0[RecordPlace(partition: $1.partition, offset: $1.sourceOffset), default: 0] += 1
            }
        }

        /// The late requests of a partition, in a topic of their own.
        func fresh(_ partition: Int32) -> [InboundRecord] {
            late.filter { $0.partition == partition }.enumerated().map { index, record in
                var record = record
                record.offset = Int64(index)
                return record
            }
        }

        /// The action, more requests, and a new fleet, until it has no work left.
        func goOn(after action: OperatorAction) -> Bool {
            fleet.broker.perform(action, on: 0, fresh: fresh(0))
            let endsThere = action == .requestsRemade || action == .requestsTruncated
            fleet.broker.add(late.filter { !endsThere || $0.partition != 0 })
            if action.isCounted { fleet.broker.offerAll() }
            if action == .retentionOvertook { fleet.broker.retainOnly(0, fromIndex: 1) }
            return fleet.run()
        }
    }

    @Test(
        arguments: OperatorAction.allCases.filter { !$0.isCounted },
        [SimulationPlan.Delivery.exactlyOnce, .atLeastOnce]
    )
    func `a held partition answers nothing before a reset, the others answer all, and then it answers the rest`(
        action: OperatorAction,
        delivery: SimulationPlan.Delivery
    ) throws {
        for seed in 1...8 as ClosedRange<UInt64> {
            let world = try World(seed, delivery)
            let (fleet, broker) = (world.fleet, world.fleet.broker)
            let offset = try #require(broker.committed[0])
            #expect(world.goOn(after: action), "seed \(seed)")
            let held: Set<Int32> = action == .groupRenamed ? Set(broker.partitions) : [0]
            #expect(fleet.held == held, "seed \(seed)")
            let meanwhile = World.answers(fleet)
            for partition in broker.partitions {
                let late = world.late.filter { $0.partition == partition }
                let count = meanwhile.filter { $0.key.partition == partition }.count
                let before = world.answered.filter { $0.key.partition == partition }.count
                #expect(count == before + (held.contains(partition) ? 0 : late.count), "seed \(seed): \(partition)")
            }
            expectOnce(meanwhile, delivery, seed)
            try goOn(world, action, offset, delivery, seed)
        }
    }

    /// The way out that the sentence names.
    private func goOn(
        _ world: World,
        _ action: OperatorAction,
        _ offset: Int64,
        _ delivery: SimulationPlan.Delivery,
        _ seed: UInt64
    ) throws {
        let (fleet, broker) = (world.fleet, world.fleet.broker)
        fleet.stopAll()
        let before = World.answers(fleet)
        let isNew = action == .requestsRemade || action == .requestsTruncated
        for partition in broker.partitions where action == .groupRenamed || partition == 0 {
            let applied = world.fleet.broker.markedOffset(partition) ?? offset
            let isLost = action == .ledgerEmptied || action == .ledgerTruncated
            broker.reset(partition, to: isNew ? broker.requestEnds(partition).low : isLost ? offset : applied)
        }
        let ended = fleet.run()
        #expect(ended && fleet.breakdowns.isEmpty, "seed \(seed): \(fleet.breakdowns)")
        #expect(fleet.held.isEmpty, "seed \(seed): \(fleet.holds)")
        let after = World.answers(fleet)
        let expected = broker.requestCount(0)
        if isNew {
            let total = after.filter { $0.key.partition == 0 }.values.reduce(0, +)
            let known = before.filter { $0.key.partition == 0 }.values.reduce(0, +)
            #expect(delivery == .atLeastOnce ? total - known >= expected : total - known == expected, "seed \(seed)")
        } else {
            #expect(after.filter { $0.key.partition == 0 }.count == expected, "seed \(seed)")
            expectOnce(after, delivery, seed)
        }
    }

    private func expectOnce(_ answers: [RecordPlace: Int], _ delivery: SimulationPlan.Delivery, _ seed: UInt64) {
        guard delivery == .exactlyOnce else { return }
        #expect(answers.values.allSatisfy { $0 == 1 }, "seed \(seed): \(answers.filter { $0.value > 1 })")
    }

    @Test(
        arguments: OperatorAction.allCases.filter(\.isCounted),
        [SimulationPlan.Delivery.exactlyOnce, .atLeastOnce]
    )
    func `requests skipped by retention or a moved offset are counted, and no partition is held`(
        action: OperatorAction,
        delivery: SimulationPlan.Delivery
    ) throws {
        for seed in 1...8 as ClosedRange<UInt64> {
            let world = try World(seed, delivery)
            #expect(world.goOn(after: action) && world.fleet.held.isEmpty, "seed \(seed)")
            #expect(world.fleet.skippedAtMost > 0, "seed \(seed)")
            let answers = World.answers(world.fleet)
            expectOnce(answers, delivery, seed)
            for partition in world.fleet.broker.partitions where partition != 0 {
                let late = world.late.filter { $0.partition == partition }
                #expect(late.allSatisfy { answers[RecordPlace(partition: partition, offset: $0.offset)] != nil })
            }
        }
    }

    @Test(arguments: [SimulationPlan.Delivery.exactlyOnce, .atLeastOnce])
    func `partitions that were added hold all of them, with a mark or without, and nothing more is answered`(
        delivery: SimulationPlan.Delivery
    ) throws {
        for seed in 1...8 as ClosedRange<UInt64> {
            let world = try World(seed, delivery)
            let broker = world.fleet.broker
            // One partition's requests come after the growth only: as a new partition it has neither mark nor offset.
            broker.perform(.ledgerEmptied, on: 1, fresh: [])
            broker.setOffset(nil, of: 1)
            broker.addPartition()
            broker.add(world.late)
            #expect(world.fleet.run(), "seed \(seed)")
            #expect(world.fleet.held == Set(broker.partitions), "seed \(seed)")
            for sentence in world.fleet.holds.values { #expect(sentence.contains("were placed on 3 partitions")) }
            #expect(World.answers(world.fleet) == world.answered, "seed \(seed)")
        }
    }
}
