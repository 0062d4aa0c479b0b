import KafkaPorts
import Streams
import Testing

@testable import SimulationKit

/// A transactional producer with the library's traps.
@Suite("A client's transactions")
struct ClientProducerTests {
    private static func joined(_ world: ClientWorld, _ process: SimulatedProcess) throws -> SimpleMember {
        let member = try SimpleMember(world, process)
        try SimpleMember.run([member], steps: 100)
        return member
    }

    private static func write(_ text: String, _ producer: any TransactionProducer) throws {
        try producer.begin()
        #expect(try producer.produce([ClientWorld.output(text)]) == 1)
        #expect(try producer.flush(limit: 500))
    }

    @Test func `outputs and offsets become visible together`() throws {
        let world = ClientWorld()
        let process = world.process("one")
        let member = try Self.joined(world, process)
        let producer = try world.producer(process)
        try Self.write("a", producer)
        let budget = CallBudget(until: process.now + 1_000)
        try producer.sendOffsets([PartitionOffset(partition: 0, offset: 1)], member.consumer.token(), budget)
        #expect(world.texts.isEmpty)
        #expect(world.broker.stableOffsets([0]) == nil)
        try producer.commit(limit: 500)
        #expect(world.texts == ["a"])
        #expect(world.broker.stableOffsets([0]) == [0: 1])
        #expect(producer.deliveries.lastLedgerOffsets == [0: 0])
        #expect(world.broker.violations.isEmpty)
    }

    @Test func `an abort leaves nothing, and the next transaction is whole`() throws {
        let world = ClientWorld()
        let producer = try world.producer(world.process("one"))
        try Self.write("a", producer)
        try producer.abort(limit: 250)
        try Self.write("b", producer)
        try producer.commit(limit: 250)
        #expect(world.texts == ["b"])
        #expect(world.broker.violations.isEmpty)
    }

    @Test func `an abort before the records have arrived ends the process`() throws {
        let world = ClientWorld()
        let producer = try world.producer(world.process("one"))
        try producer.begin()
        _ = try producer.produce([ClientWorld.output("a")])
        try producer.abort(limit: 250)
        #expect(world.broker.violations.contains { $0.contains("txn_req_cnt") })
    }

    @Test(arguments: [true, false])
    func `a hidden repeat hits the next transaction, unless the producer is discarded`(isDiscarded: Bool) throws {
        let world = ClientWorld()
        let process = world.process("one")
        var producer = try world.producer(process)
        try Self.write("a", producer)
        process.chances.hiddenRepeat = 1
        try producer.commit(limit: 500)
        process.chances.hiddenRepeat = 0
        #expect(producer.unanswered.ends == 1)
        if isDiscarded {
            producer.discard()
            producer = try world.producer(process)
        }
        try producer.begin()
        _ = try producer.produce([ClientWorld.output("b")])
        _ = try producer.flush(limit: 500)
        // The copy has committed the first part.
        #expect(world.texts == (isDiscarded ? ["a"] : ["a", "b"]))
        #expect(world.broker.counts.counts[.lateRefused] == (isDiscarded ? 1 : nil))
    }

    @Test func `an init without an answer may come late, and fences the owner once`() throws {
        let world = ClientWorld()
        let process = world.process("one")
        var fenced: [Int] = []
        for _ in 0..<20 {
            let producer = try world.producer(process)
            process.chances.client.initUnanswered = 1
            #expect(throws: KafkaFault.self) { try producer.initTransactions(limit: 250) }
            process.chances.client.initUnanswered = 0
            try producer.initTransactions(limit: 250)
            #expect(producer.unanswered.inits == 1)
            world.pass(5_001)
            try producer.begin()
            _ = try producer.produce([ClientWorld.output("a")])
            let isFenced = (try? producer.flush(limit: 500)) == nil
            fenced.append(isFenced ? 1 : 0)
            #expect((producer.fatalFault?.isFenced == true) == isFenced)
            producer.discard()
        }
        #expect(fenced.contains(1) && fenced.contains(0))
    }

    @Test func `begin after a fatal fault hangs`() throws {
        let world = ClientWorld()
        let process = world.process("one")
        let producer = try world.producer(process)
        try Self.write("a", producer)
        process.chances.indefinite = 1
        for _ in 0..<30 where producer.fatalFault == nil { try? producer.commit(limit: 500) }
        #expect(producer.fatalFault != nil)
        #expect(throws: KafkaFault.self) { try producer.begin() }
        #expect(world.broker.violations.contains { $0.contains("hangs") })
    }

    @Test func `a record that was not taken poisons nothing: the library commits without it`() throws {
        let world = ClientWorld()
        let process = world.process("one")
        let producer = try world.producer(process)
        try producer.begin()
        process.chances.produceFault = 1
        #expect(throws: KafkaFault.self) { try producer.produce([ClientWorld.output("a")]) }
        process.chances.produceFault = 0
        _ = try producer.produce([ClientWorld.output("b")])
        try producer.commit(limit: 500)
        #expect(world.texts == ["b"])
    }

    @Test func `a record acknowledged without an offset is lost, and a commit succeeds`() throws {
        let world = ClientWorld()
        let process = world.process("one", chances: .none)
        let producer = try world.producer(process)
        process.chances.client.ackWithoutOffset = 1
        try Self.write("a", producer)
        #expect(producer.deliveries.withoutOffset == 1 && producer.deliveries.failed == 0)
        try producer.commit(limit: 500)
        #expect(world.texts.isEmpty)
    }

    @Test func `a throttled flush lasts, and ends`() throws {
        let world = ClientWorld()
        let process = world.process("one")
        process.chances.client.bytesPerSecond = 1_000
        let producer = try world.producer(process)
        try producer.begin()
        _ = try producer.produce(ArraySlice((0..<40).map { ClientWorld.output("\($0)") }))
        var slices = 0
        while try !producer.flush(limit: 500) {
            slices += 1
            world.pass(500)
        }
        #expect(slices > 3)
        #expect(producer.deliveries.acknowledged == 40)
    }

    @Test func `a discarded producer's records stay invisible`() throws {
        let world = ClientWorld()
        let process = world.process("one")
        process.chances.client.neverEnds = 1
        let producer = try world.producer(process)
        try producer.begin()
        _ = try producer.produce([ClientWorld.output("a")])
        producer.discard()
        let next = try world.producer(process)
        try Self.write("b", next)
        try next.commit(limit: 500)
        world.pass(5_000)
        #expect(world.texts == ["b"])
    }
}
