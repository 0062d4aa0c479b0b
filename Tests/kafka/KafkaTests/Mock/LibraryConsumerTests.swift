import Dispatch
import Kafka
import KafkaKit
import KafkaPorts
import Streams
import TestKit
import Testing
import Threads

/// What the adapter adds to the library's calls; what the calls do is the contract's.
@Suite("A member's consumer", .waiting)
struct LibraryConsumerTests {
    private func consumer(_ fixture: MockFixture, _ group: String = "group") throws -> LibraryConsumer {
        try LibraryConsumer(KafkaProperties(fixture.properties(group: group)), topic: MockFixture.topic)
    }

    private func fill(_ fixture: MockFixture, _ count: Int, headers: [RecordHeader] = []) throws {
        // A batch of its own for each record, so that no answer says how large its headers are.
        let producer = try fixture.producer([("batch.num.messages", "1")])
        for number in 0..<count {
            try producer.produce(
                topic: MockFixture.topic,
                partition: 0,
                key: nil,
                value: bytes("\(number)"),
                headers: headers
            )
        }
        try producer.flush(timeoutMilliseconds: .noLimit)
    }

    @Test func `records are taken by other threads while the next ones are polled and measured`() throws {
        try withMock(partitions: 1) { fixture in
            let header = RecordHeader(name: bytes("h"), value: [UInt8](repeating: 7, count: 70_000))
            try fill(fixture, 60, headers: [header])
            let consumer = try consumer(fixture)
            try consumer.assign([PartitionOffset(partition: 0, offset: 0)])
            let (group, taken) = (DispatchGroup(), Locked(0))
            var (counted, polled, watch) = (0, 0, StandstillWatch<Int>())
            while polled < 60, !watch.isStill(polled) {
                guard case .record(let record, let bytes)? = consumer.poll(waiting: 100) else { continue }
                polled += 1
                counted += bytes
                DispatchQueue.global().async(group: group) {
                    if record.take().headers.first?.value?.count == 70_000 { taken.withLock { $0 += 1 } }
                }
            }
            group.wait()
            let count = taken.withLock { $0 }
            #expect(polled == 60 && count == 60)
            // Headers that were taken before they could be measured are not counted.
            #expect(counted >= 100)
            consumer.discard()
        }
    }

    @Test func `seeks are waited for on a busy machine`() throws {
        try withMock { fixture in
            try fixture.fill(perPartition: 10, partitions: 4)
            let consumer = try consumer(fixture)
            try consumer.assign((0..<4).map { PartitionOffset(partition: $0, offset: 0) })
            var (polled, watch) = (0, StandstillWatch<Int>())
            while polled < 40, !watch.isStill(polled) {
                if case .record? = consumer.poll(waiting: 100) { polled += 1 }
            }
            // The library's threads wait for a core while these work.
            let load = BusyThreads(8)
            defer { load.stop() }
            for number in 0..<200 as Range<Int64> {
                let starts = (0..<4 as Range<Int32>).map { PartitionOffset(partition: $0, offset: number % 10) }
                // Taken for microseconds it would be too little.
                #expect(consumer.seek(starts, limit: 30_000).isEmpty)
            }
            consumer.discard()
        }
    }

    @Test func `a call on another queue than the first one ends the process`() async {
        await #expect(processExitsWith: .failure) {
            let properties = KafkaProperties([("bootstrap.servers", "127.0.0.1:1"), ("group.id", "g")])
            let consumer = try LibraryConsumer(properties, topic: "t")
            DispatchQueue(owner: "loop").sync { _ = consumer.poll(waiting: 0) }
            _ = consumer.poll(waiting: 0)
        }
    }

    @Test func `one that was given up answers every call, and is asked nothing`() throws {
        try withMock(partitions: 1) { fixture in
            let consumer = try consumer(fixture)
            let inquiry = try #require(consumer.inquiry)
            #expect(try inquiry.topics(timeoutMilliseconds: .noLimit).map(\.name) == [MockFixture.topic])
            consumer.discard()
            #expect(consumer.poll(waiting: 10_000) == nil)
            #expect(consumer.isAssignmentLost)
            #expect(consumer.pause([0])[0] != nil)
            #expect(consumer.seek([PartitionOffset(partition: 0, offset: 0)], limit: 1)[0] != nil)
            #expect(throws: KafkaFault.self) { try consumer.subscribe() }
            #expect(throws: KafkaFault.self) { try consumer.token() }
            try consumer.close(limit: 1)
            // Once its client has left.
            let isGone = eventually {
                (try? inquiry.committed([0], timeoutMilliseconds: 100)) != nil
            } until: {
                !$0
            }
            #expect(isGone)
        }
    }

    @Test func `leaving a group whose brokers are gone ends at its limit`() throws {
        try withMock(partitions: 1) { fixture in
            try fill(fixture, 1)
            let consumer = try consumer(fixture)
            try consumer.subscribe()
            var watch = StandstillWatch<Int>()
            while !watch.isStill(0) { if case .assigned? = consumer.poll(waiting: 100) { break } }
            try fixture.cluster.setRoundTrip(1, milliseconds: 60_000)
            let fault = #expect(throws: KafkaFault.self) { try consumer.close(limit: 50) }
            #expect(fault?.isTimeout == true)
        }
    }
}
