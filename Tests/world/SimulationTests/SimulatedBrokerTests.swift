import DeviceLab
import Pipeline
import SimulationKit
import Streams
import TestKit
import Testing

/// The simulated Kafka does what Kafka does: otherwise the simulation proves nothing about Kafka.
@Suite("The simulated broker")
struct SimulatedBrokerTests {
    private static let ledger = SimulatedBroker.Topic(.ledger, 0)

    private static func broker(slowMarkers: Double = 0) -> SimulatedBroker {
        var limits = SimulatedBroker.Limits()
        limits.slowMarkers = slowMarkers
        let records = (0..<4 as Range<Int64>).flatMap { offset in
            (0..<3 as Range<Int32>).map { partition in
                RequestRecords.record([1], key: nil, partition: partition, offset: offset)
            }
        }
        return SimulatedBroker(records: records, seed: 1, limits: limits)
    }

    private static func output(_ text: String, _ stream: OutputTopic = .ledger) -> OutboundRecord {
        OutboundRecord(
            stream: stream,
            partition: 0,
            sourceOffset: 0,
            sourceTimestamp: 0,
            key: Array(text.utf8),
            value: Array(text.utf8)
        )
    }

    private static func position(_ offset: Int64) -> [PartitionPosition] {
        [PartitionPosition(partition: 0, offset: offset)]
    }

    private static func texts(_ broker: SimulatedBroker) -> [String] {
        (broker.logs[ledger]?.visible ?? []).map { String(decoding: $0.value ?? [], as: UTF8.self) }
    }

    @Test func `an open transaction is invisible and holds back the records after it, until it is aborted`() throws {
        let broker = Self.broker()
        let (one, two) = (broker.initProducer("one"), broker.initProducer("two"))
        try broker.produce("one", epoch: one, Self.output("a"))
        try broker.produce("two", epoch: two, Self.output("b"))
        try broker.endTransaction("two", epoch: two, commit: true)
        #expect(Self.texts(broker).isEmpty)
        #expect(broker.logs[Self.ledger]?.lastStable == 0)
        #expect(broker.logs[Self.ledger]?.highWatermark == 3)
        try broker.endTransaction("one", epoch: one, commit: false)
        #expect(Self.texts(broker) == ["b"])
        #expect(broker.logs[Self.ledger]?.abortedCount == 1)
    }

    @Test func `an init with the same id aborts its predecessor's transaction and fences it`() throws {
        let broker = Self.broker()
        let old = broker.initProducer("one")
        try broker.produce("one", epoch: old, Self.output("a"))
        let new = broker.initProducer("one")
        #expect(throws: BrokerRefusal.fencedProducer) { try broker.produce("one", epoch: old, Self.output("b")) }
        #expect(throws: BrokerRefusal.fencedProducer) {
            try broker.endTransaction("one", epoch: old, commit: true)
        }
        try broker.produce("one", epoch: new, Self.output("c"))
        try broker.endTransaction("one", epoch: new, commit: true)
        #expect(Self.texts(broker) == ["c"])
    }

    @Test func `a transaction past its timeout is aborted, and its producer is fenced`() throws {
        let broker = Self.broker()
        let epoch = broker.initProducer("one")
        try broker.produce("one", epoch: epoch, Self.output("a"))
        broker.advance(by: broker.limits.transactionTimeout)
        #expect(broker.logs[Self.ledger]?.lastStable == 0)
        broker.advance(by: 1)
        #expect(throws: BrokerRefusal.fencedProducer) {
            try broker.endTransaction("one", epoch: epoch, commit: true)
        }
        #expect(Self.texts(broker).isEmpty)
    }

    @Test(
        arguments: [true, false]
    )
    func `a late EndTxn ends its own epoch's transaction, and none of a later epoch`(renews: Bool) throws {
        let broker = Self.broker()
        var epoch = broker.initProducer("one")
        broker.endLater("one", epoch: epoch, after: 100)
        if renews { epoch = broker.initProducer("one") }
        try broker.produce("one", epoch: epoch, Self.output("a"))
        broker.advance(by: 100)
        #expect(Self.texts(broker) == (renews ? [] : ["a"]))
    }

    @Test func `offsets of a transaction are not reported before its marker is written`() throws {
        let broker = Self.broker()
        let member = broker.group.join(name: "one", instance: nil, at: 0)
        let stamp = SimulatedGroup.Stamp(member: member, generation: broker.group.generation)
        let epoch = broker.initProducer("one")
        try broker.addOffsets("one", epoch: epoch, Self.position(2), stamp)
        #expect(broker.stableOffsets([0]) == nil)
        #expect(broker.stableOffsets([1]) == [1: 0])
        try broker.endTransaction("one", epoch: epoch, commit: true)
        #expect(broker.stableOffsets([0]) == [0: 2])
        #expect(broker.violations.isEmpty)
        try broker.commitOffsets(Self.position(1), stamp)
        #expect(broker.violations.count == 1, "positions that go back are noticed")
    }

    @Test func `while markers are being written, offsets may be reported before the ledger's end is stable`() throws {
        let broker = Self.broker(slowMarkers: 1)
        let member = broker.group.join(name: "one", instance: nil, at: 0)
        let stamp = SimulatedGroup.Stamp(member: member, generation: broker.group.generation)
        var isSeen = false
        for offset in 1...40 as ClosedRange<Int64> where !isSeen {
            let epoch = broker.initProducer("one")
            try broker.produce("one", epoch: epoch, Self.output("a"))
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

    @Test func `a commit under an old generation is refused, from any member`() throws {
        let broker = Self.broker()
        let one = broker.group.join(name: "one", instance: nil, at: 0)
        let old = SimulatedGroup.Stamp(member: one, generation: broker.group.generation)
        let epoch = broker.initProducer("one")
        try broker.addOffsets("one", epoch: epoch, Self.position(1), old)
        let two = broker.group.join(name: "two", instance: nil, at: 0)
        #expect(broker.group.status(one) == .rebalancing)
        broker.group.rejoin(one, at: 0)
        #expect(broker.group.status(one) == .stable(generation: 2, partitions: [0, 1]))
        #expect(broker.group.status(two) == .stable(generation: 2, partitions: [2]))
        #expect(throws: BrokerRefusal.staleGeneration) {
            try broker.addOffsets("one", epoch: epoch, Self.position(2), old)
        }
    }

    @Test func `a returning static member keeps its partitions without a rebalance, and fences the holder of its name`()
    {
        var group = SimulatedGroup(partitions: [0, 1], sessionTimeout: 10_000, rebalanceTimeout: 30_000)
        let old = group.join(name: "one", instance: "one", at: 0)
        let generation = group.generation
        let new = group.join(name: "one", instance: "one", at: 5_000)
        #expect(group.status(old) == .fenced)
        #expect(group.status(new) == .stable(generation: generation, partitions: [0, 1]))
        #expect(!group.accepts(.init(member: old, generation: generation)))
        group.heartbeat(new, at: 5_000)
        group.advance(to: 15_000)
        #expect(group.status(new) == .stable(generation: generation, partitions: [0, 1]))
        group.advance(to: 15_001)
        #expect(group.status(new) == .unknown)
        #expect(group.expired == 1)
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
        var gone = Self.output("b")
        gone.value = nil
        for record in [Self.output("a"), Self.output("b"), Self.output("a"), gone] {
            log.append(record, transaction: nil)
        }
        log.append(Self.output("a"), transaction: 1)
        log.compact()
        #expect(log.visible == [Self.output("a"), gone])
        #expect(log.highWatermark == 5)
        log.compact(dropsTombstones: true)
        #expect(log.visible == [Self.output("a")])
        log.mark(1, committed: true)
        #expect(log.visible.count == 2)
    }
}
