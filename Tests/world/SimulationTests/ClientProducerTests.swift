import KafkaPorts
import Streams
import Testing

@testable import SimulationKit

/// A transactional producer with the library's traps; how it works otherwise, the contract's scripts say.
@Suite("A client's transactions")
struct ClientProducerTests {
    private static func write(_ text: String, _ producer: any TransactionProducer) throws {
        try producer.begin()
        #expect(try producer.produce([ClientWorld.output(text)]) == 1)
        #expect(try producer.flush(limit: 500))
    }

    @Test func `an abort before the records have arrived ends the process`() throws {
        let world = ClientWorld()
        let producer = try world.producer(world.process("one"))
        try producer.begin()
        _ = try producer.produce([ClientWorld.output("a")])
        try producer.abort(limit: 250)
        #expect(world.broker.violations.contains { $0.contains("txn_req_cnt") })
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
        let process = world.process("one")
        let producer = try world.producer(process)
        process.chances.client.ackWithoutOffset = 1
        try Self.write("a", producer)
        #expect(producer.deliveries.withoutOffset == 1 && producer.deliveries.failed == 0)
        try producer.commit(limit: 500)
        #expect(world.texts.isEmpty)
    }

    @Test func `offsets of an assignment that is known to be lost are noticed`() throws {
        let world = ClientWorld()
        let process = world.process("one")
        process.chances.client.lostBeforeEvent = 1
        let consumer = try world.ports(process).makeConsumer()
        try consumer.subscribe()
        for _ in 0..<50 {
            world.pass(10)
            guard case .assigned(let partitions)? = consumer.poll(waiting: 0) else { continue }
            try consumer.assign(partitions.map { PartitionOffset(partition: $0, offset: PartitionOffset.beginning) })
        }
        let token = try consumer.token()
        world.pass(10_001, but: [process])
        #expect(consumer.isAssignmentLost)
        let producer = try world.producer(process)
        try producer.begin()
        let budget = CallBudget(until: process.now + 1_000)
        #expect(throws: KafkaFault.self) {
            try producer.sendOffsets([PartitionOffset(partition: 0, offset: 1)], token, budget)
        }
        #expect(world.broker.violations.contains { $0.contains("lost") })
    }
}
