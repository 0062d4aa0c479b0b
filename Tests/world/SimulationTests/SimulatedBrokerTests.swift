import Pipeline
import SimulationKit
import Streams
import Testing

/// Claims about the simulated Kafka that no script of the contract makes.
@Suite("The simulated broker")
struct SimulatedBrokerTests {
    private static let ledger = SimulatedBroker.Topic(.ledger, 0)

    private static func position(_ offset: Int64) -> [PartitionPosition] {
        [PartitionPosition(partition: 0, offset: offset)]
    }

    @Test func `positions that go back are noticed`() throws {
        let broker = ClientWorld().broker
        let member = broker.group.join(name: "one", instance: nil, at: 0)
        let stamp = SimulatedGroup.Stamp(member: member, generation: broker.group.generation)
        try broker.commitOffsets(Self.position(2), stamp)
        #expect(broker.violations.isEmpty)
        try broker.commitOffsets(Self.position(1), stamp)
        #expect(broker.violations.count == 1)
    }

    @Test func `while markers are being written, offsets may be reported before the ledger's end is stable`() throws {
        var limits = SimulatedBroker.Limits()
        limits.slowMarkers = 1
        let broker = ClientWorld(limits: limits).broker
        let member = broker.group.join(name: "one", instance: nil, at: 0)
        let stamp = SimulatedGroup.Stamp(member: member, generation: broker.group.generation)
        var isSeen = false
        for offset in 1...40 as ClosedRange<Int64> where !isSeen {
            let epoch = broker.initProducer("one")
            try broker.produce("one", epoch: epoch, ClientWorld.output("a"))
            try broker.addOffsets("one", epoch: epoch, Self.position(offset), stamp)
            try broker.endTransaction("one", epoch: epoch, commit: true)
            while broker.isEnding("one"), !isSeen {
                broker.group.heartbeat(member, at: broker.now)
                broker.advance(by: 1)
                let log = try #require(broker.logs[Self.ledger])
                isSeen = broker.stableOffsets([0]) != nil && log.lastStable < log.highWatermark
            }
        }
        #expect(isSeen)
    }

    @Test func `a rebalance waits for its members, and completes without those that do not join in time`() {
        var group = SimulatedGroup(partitions: [0, 1, 2], sessionTimeout: 60_000, rebalanceTimeout: 30_000)
        let one = group.join(name: "one", instance: nil, at: 0)
        let two = group.join(name: "two", instance: nil, at: 0)
        group.advance(to: 29_999)
        #expect(group.status(one) == .rebalancing)
        group.advance(to: 30_000)
        #expect(group.status(one) == .unknown)
        #expect(group.status(two) == .stable(generation: 2, partitions: [0, 1, 2]))
    }

    @Test func `compaction keeps each key's last value and everything after the LSO, and drops tombstones on request`()
    {
        var log = PartitionLog()
        var gone = ClientWorld.output("b")
        gone.value = nil
        for record in [ClientWorld.output("a"), ClientWorld.output("b"), ClientWorld.output("a"), gone] {
            log.append(record, transaction: nil)
        }
        log.append(ClientWorld.output("a"), transaction: 1)
        log.compact()
        #expect(log.visible == [ClientWorld.output("a"), gone])
        #expect(log.highWatermark == 5)
        log.compact(dropsTombstones: true)
        #expect(log.visible == [ClientWorld.output("a")])
        log.mark(1, committed: true)
        #expect(log.visible.count == 2)
    }
}
