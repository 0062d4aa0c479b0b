import Dispatch
import Kafka
import KafkaKit
import KafkaPorts
import Streams
import TestKit
import Testing
import Threads

/// What a consumer adds to the library's calls; what the calls do is the contract's.
@Suite("A member's consumer", .waiting)
struct ConsumerTests {
    @Test func `nothing is committed unless asked for`() throws {
        try withMock(partitions: 1) { fixture in
            try fixture.fill(perPartition: 10)
            // Not even where the caller sets enable.auto.commit.
            let first = try fixture.consumer([("enable.auto.commit", "true"), ("auto.commit.interval.ms", "10")])
            try first.subscribe()
            #expect(try first.records(10).count == 10)
            try first.close()
            let second = try fixture.consumer()
            try second.subscribe()
            #expect(try second.records(10).map(\.offset) == Array(0..<10))
        }
    }

    @Test func `missing ends are a fault, and the records already fetched stay`() throws {
        try withMock(partitions: 1) { fixture in
            try fixture.fill(perPartition: 50)
            let reader = try fixture.reader([0])
            #expect(try reader.records(1).count == 1)
            try fixture.cluster.setBroker(1, isUp: false)
            let fault = #expect(throws: KafkaFault.self) { try reader.watermarks(of: 0, timeoutMilliseconds: 300) }
            #expect(fault?.isRetriable == true)
            try fixture.cluster.setBroker(1, isUp: true)
            #expect(try reader.records(49).map(\.offset) == Array(1..<50))
        }
    }

    @Test func `a dropped consumer leaves its group`() throws {
        try withMock(partitions: 1) { fixture in
            try fixture.fill(perPartition: 3)
            do {
                let dropped = try fixture.consumer()
                try dropped.subscribe()
                #expect(try dropped.records(3).count == 3)
            }
            let next = try fixture.consumer()
            try next.subscribe()
            #expect(try next.records(3).count == 3)
        }
    }

    @Test func `a consumer that is not a member has no token`() throws {
        try withMock(partitions: 1) { fixture in
            let fault = #expect(throws: KafkaFault.self) { try fixture.reader([0]).token() }
            #expect(fault?.requiresAbort == true && fault?.isFatal == false)
            let (consumer, _) = try fixture.member()
            try consumer.close()
        }
    }

    @Test func `records are taken by other threads while the next ones are polled and measured`() throws {
        try withMock(partitions: 1) { fixture in
            let header = RecordHeader(name: bytes("h"), value: [UInt8](repeating: 7, count: 70_000))
            // A batch of its own for each record, so that no answer says how large its headers are.
            try fixture.fill(perPartition: 60, headers: [header], [("batch.num.messages", "1")])
            let consumer = try fixture.reader([0])
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
            let consumer = try fixture.reader([0, 1, 2, 3])
            #expect(try consumer.records(40).count == 40)
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
            let consumer = try Consumer(properties, topic: "t")
            DispatchQueue(owner: "loop").sync { _ = consumer.poll(waiting: 0) }
            _ = consumer.poll(waiting: 0)
        }
    }

    @Test func `one that was given up answers every call, and is asked nothing`() throws {
        try withMock(partitions: 1) { fixture in
            let consumer = try fixture.consumer()
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
            #expect(eventually({ try? inquiry.committed([0], timeoutMilliseconds: 100) }, until: { $0 == nil }))
        }
    }

    @Test func `leaving a group whose brokers are gone ends at its limit`() throws {
        try withMock(partitions: 1) { fixture in
            let consumer = try fixture.consumer()
            try consumer.subscribe()
            var watch = StandstillWatch<Int>()
            while !watch.isStill(0) { if case .assigned? = consumer.poll(waiting: 100) { break } }
            try fixture.cluster.setRoundTrip(1, milliseconds: 60_000)
            let fault = #expect(throws: KafkaFault.self) { try consumer.close(limit: 50) }
            #expect(fault?.isTimeout == true)
        }
    }
}
