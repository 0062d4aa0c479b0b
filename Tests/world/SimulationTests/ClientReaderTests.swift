import KafkaPorts
import SimulationKit
import Streams
import Testing

/// The ledger's reader and the broker's answers.
@Suite("A client's reader and queries")
struct ClientReaderTests {
    private static func answer(
        _ process: SimulatedProcess,
        _ world: ClientWorld,
        _ query: BrokerQuery
    ) throws
        -> BrokerAnswer
    {
        let queries = world.ports(process).queries
        let id = queries.ask(query)
        for _ in 0..<10_000 {
            _ = process.runJob()
            world.pass(10)
            if let (answered, answer) = queries.nextAnswer() {
                #expect(answered == id)
                return try answer.get()
            }
        }
        throw KafkaFault.timedOut("no answer at all")
    }

    @Test func `reading ends at the high watermark, past an open transaction once it has ended`() throws {
        let world = ClientWorld()
        let process = world.process("one")
        let (one, two) = (try world.producer(process), try world.producer(world.process("two")))
        try one.begin()
        _ = try one.produce([ClientWorld.output("a")])
        #expect(try one.flush(limit: 1))
        try two.begin()
        _ = try two.produce([ClientWorld.output("b")])
        try two.commit(limit: 500)
        guard case .ends(let ledger, _, nil) = try Self.answer(process, world, .ends([0], again: [])) else {
            return #expect(Bool(false), "ends are answered with ends")
        }
        #expect(ledger == [0: Watermarks(low: 0, high: 3)])
        let reader = try world.ports(process).makeReader()
        try reader.start([PartitionOffset(partition: 0, offset: PartitionOffset.beginning)])
        for _ in 0..<50 { #expect(try reader.poll(most: 10, waiting: 0).offsets.isEmpty) }
        #expect(reader.position(of: 0) == 0)
        try one.abort(limit: 250)
        var offsets: [Int64] = []
        for _ in 0..<100 { offsets += try reader.poll(most: 10, waiting: 0).offsets }
        #expect(offsets == [1])
        #expect(reader.position(of: 0) == 4)
    }

    @Test func `a stopped partition is silent, and an offset that is gone is a fault of its partition`() throws {
        let world = ClientWorld()
        let process = world.process("one")
        let producer = try world.producer(process)
        try producer.begin()
        _ = try producer.produce([ClientWorld.output("a"), ClientWorld.output("b")])
        try producer.commit(limit: 500)
        let reader = try world.ports(process).makeReader()
        try reader.start([PartitionOffset(partition: 0, offset: 0)])
        try reader.stop([0])
        for _ in 0..<50 { #expect(try reader.poll(most: 10, waiting: 0).offsets.isEmpty) }
        try reader.start([PartitionOffset(partition: 0, offset: 9)])
        var faults: [KafkaFault] = []
        for _ in 0..<100 {
            do { _ = try reader.poll(most: 10, waiting: 0) } catch { faults.append(error) }
        }
        #expect(faults.count == 1)
        #expect(faults[0].isOffsetGone && faults[0].partition == 0)
    }

    @Test func `offsets have their metadata, and wait for a pending transaction`() throws {
        let world = ClientWorld()
        let process = world.process("one")
        let member = try SimpleMember(world, process)
        try SimpleMember.run([member], steps: 100)
        _ = try member.consumer.commit([PartitionOffset(partition: 1, offset: 2)])
        #expect(
            try Self.answer(process, world, .offsets([0, 1], limit: 5_000))
                == .offsets(
                    [
                        CommittedOffset(partition: 0, offset: nil),
                        CommittedOffset(partition: 1, offset: 2, metadata: Array("attest-worker/1".utf8)),
                    ],
                    hasAny: true
                )
        )
        let producer = try world.producer(process)
        try producer.begin()
        let budget = CallBudget(until: process.now + 1_000)
        try producer.sendOffsets([PartitionOffset(partition: 0, offset: 1)], member.consumer.token(), budget)
        #expect(throws: KafkaFault.self) { try Self.answer(process, world, .offsets([0], limit: 5_000)) }
    }

    @Test func `a query without an answer fails after five seconds, and the next one is asked`() throws {
        let world = ClientWorld()
        let process = world.process("one")
        process.chances.client.queryUnanswered = 1
        #expect(throws: KafkaFault.self) { try Self.answer(process, world, .topics) }
        #expect(world.broker.now >= 5_000)
        process.chances.client.queryUnanswered = 0
        guard case .topics(let topics) = try Self.answer(process, world, .topics) else {
            return #expect(Bool(false), "topics are answered with topics")
        }
        #expect(topics.contains { $0.name == "ledger" && $0.partitions == 3 })
    }

    @Test func `a writer's transaction becomes visible, one step a job`() throws {
        let world = ClientWorld()
        let process = world.process("one")
        let member = try SimpleMember(world, process)
        try SimpleMember.run([member], steps: 100)
        let writer = world.ports(process).writer
        func outcome() -> WriterOutcome? {
            for _ in 0..<1_000 {
                _ = process.runJob()
                world.pass(5)
                if let outcome = writer.nextOutcome() { return outcome }
            }
            return nil
        }
        writer.submit(.takeOver(["results": 3]))
        guard case .tookOver? = outcome() else { return #expect(Bool(false), "the id is taken over") }
        let batch = OutputBatch(
            records: [ClientWorld.output("a")],
            offsets: [PartitionOffset(partition: 0, offset: 1)],
            token: try member.consumer.token(),
            budget: CallBudget(until: process.now + 3_000)
        )
        writer.submit(.write(batch))
        guard case .written(let ends, _, offsetsAreDue: false, _)? = outcome() else {
            return #expect(Bool(false), "the transaction is written")
        }
        #expect(ends == [0: 1])
        #expect(world.texts == ["a"])
        #expect(world.broker.violations.isEmpty)
    }
}
