import Kafka
import KafkaKit
import KafkaPorts
import TestKit
import Testing

@Suite(.waiting)
struct ConsumerTests {
    private func filled(_ fixture: MockFixture, perPartition: Int, partitions: Int32 = 4) throws {
        let producer = try fixture.producer()
        for partition in 0..<partitions {
            for number in 0..<perPartition {
                try producer.produce(
                    topic: MockFixture.topic,
                    partition: partition,
                    key: nil,
                    value: bytes("\(partition)-\(number)")
                )
            }
        }
        try producer.flush(timeoutMilliseconds: .noLimit)
    }

    @Test func `the next member resumes at the committed offsets`() throws {
        try withMock(partitions: 1) { fixture in
            try filled(fixture, perPartition: 10, partitions: 1)
            let first = try fixture.consumer()
            try first.subscribe()
            #expect(try first.records(10).map(\.offset) == Array(0..<10))
            #expect(try first.committed([0], timeoutMilliseconds: .noLimit).first?.offset == nil)
            try first.commit([PartitionOffset(partition: 0, offset: 6)], timeoutMilliseconds: .noLimit)
            #expect(try first.committed([0], timeoutMilliseconds: .noLimit).first?.offset == 6)
            try first.close()
            let second = try fixture.consumer()
            try second.subscribe()
            #expect(try second.records(4).map(\.offset) == [6, 7, 8, 9])
            try second.close()
        }
    }

    @Test func `nothing is committed unless asked for`() throws {
        try withMock(partitions: 1) { fixture in
            try filled(fixture, perPartition: 10, partitions: 1)
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

    @Test func `a seek goes back, and records fetched before it are not delivered after it`() throws {
        try withMock(partitions: 1) { fixture in
            try filled(fixture, perPartition: 500, partitions: 1)
            let reader = try fixture.reader([0])
            #expect(try reader.records(100).last?.offset == 99)
            try reader.seek([PartitionOffset(partition: 0, offset: 40)], timeoutMilliseconds: .noLimit)
            #expect(try reader.records(460).map(\.offset) == Array(40..<500))
            try reader.seek(
                [PartitionOffset(partition: 0, offset: PartitionOffset.beginning)],
                timeoutMilliseconds: .noLimit
            )
            #expect(try reader.records(1).first?.offset == 0)
            #expect(try reader.positions([0]).first?.offset == 1)
        }
    }

    @Test func `seeks are waited for on a busy machine`() throws {
        try withMock { fixture in
            try filled(fixture, perPartition: 10)
            let reader = try fixture.reader([0, 1, 2, 3])
            #expect(try reader.records(40).count == 40)
            // The library's threads wait for a core while these work.
            let load = BusyThreads(8)
            defer { load.stop() }
            for number in 0..<200 as Range<Int64> {
                let starts = (0..<4 as Range<Int32>).map { PartitionOffset(partition: $0, offset: number % 10) }
                // Taken for microseconds it would be too little.
                try reader.seek(starts, timeoutMilliseconds: 30_000)
            }
        }
    }

    @Test func `a paused partition delivers nothing until it is resumed`() throws {
        try withMock(partitions: 2) { fixture in
            try filled(fixture, perPartition: 50, partitions: 2)
            let reader = try fixture.reader([0, 1])
            try reader.pause([1])
            let before = try reader.records(50)
            #expect(before.allSatisfy { $0.partition == 0 })
            #expect(try reader.poll(timeoutMilliseconds: 300) == nil)
            try reader.resume([1])
            #expect(try reader.records(50).allSatisfy { $0.partition == 1 })
        }
    }

    @Test(arguments: [PartitionOffset.beginning, 0, 20])
    func `a partition assigned paused delivers nothing until it is resumed, and then everything`(start: Int64) throws {
        try withMock(partitions: 1) { fixture in
            try filled(fixture, perPartition: 50, partitions: 1)
            let reader = try fixture.consumer(group: "reader")
            try reader.assignPaused([PartitionOffset(partition: 0, offset: start)])
            #expect(try reader.poll(timeoutMilliseconds: 1_000) == nil)
            try reader.resume([0])
            let first = max(0, start)
            #expect(try reader.records(50 - Int(first)).map(\.offset) == Array(first..<50))
        }
    }

    /// With 64 partitions the library's thread is still starting some when `assignPaused` returns.
    @Test func `after a second paused assignment every partition that is started delivers its record`() throws {
        let count: Int32 = 64
        try withMock(partitions: Int(count)) { fixture in
            try filled(fixture, perPartition: 1, partitions: count)
            let reader = try fixture.consumer(group: "reader")
            let starts = (0..<count).map { PartitionOffset(partition: $0, offset: 0) }
            for _ in 0..<300 {
                try reader.assignPaused(starts)
                try reader.assignPaused(starts)
                try reader.start(starts)
                var unread = Set(starts.map(\.partition))
                let isDone = try reader.poll { event in
                    if case .message(let message) = event { unread.remove(message.partition) }
                    return unread.isEmpty
                }
                try #require(isDone, "nothing came from partitions \(unread.sorted())")
            }
        }
    }

    @Test func `a partition's ends are reported`() throws {
        try withMock(partitions: 2) { fixture in
            try filled(fixture, perPartition: 7, partitions: 1)
            let reader = try fixture.reader([0, 1], [("enable.partition.eof", "true")])
            #expect(try reader.watermarks(of: 0, timeoutMilliseconds: .noLimit) == Watermarks(low: 0, high: 7))
            #expect(try reader.watermarks(of: 1, timeoutMilliseconds: .noLimit) == Watermarks(low: 0, high: 0))
            var ends: [PartitionOffset] = []
            let isDone = try reader.poll { event in
                if case .endOfPartition(let end) = event { ends.append(end) }
                return ends.count == 2
            }
            #expect(isDone)
            #expect(ends.contains(PartitionOffset(partition: 0, offset: 7)))
            #expect(ends.contains(PartitionOffset(partition: 1, offset: 0)))
        }
    }

    @Test func `a partition's ends are reported by its current leader`() throws {
        let cluster = try MockCluster(brokers: 2)
        try withExtendedLifetime(cluster) {
            try cluster.createTopic("moved", partitions: 1)
            let properties = [("bootstrap.servers", cluster.bootstrapServers), ("log_level", "0")]
            let ends = try PartitionEnds(KafkaProperties(properties))
            for leader in [1, 2, 1, 2] as [Int32] {
                try cluster.setLeader(leader, of: "moved", 0)
                #expect(
                    try ends.watermarks(of: "moved", 0, timeoutMilliseconds: .noLimit) == Watermarks(low: 0, high: 0)
                )
            }
        }
    }

    @Test func `missing ends are a fault, and the records already fetched stay`() throws {
        try withMock(partitions: 1) { fixture in
            try filled(fixture, perPartition: 50, partitions: 1)
            let reader = try fixture.reader([0])
            #expect(try reader.records(1).count == 1)
            try fixture.cluster.setBroker(1, isUp: false)
            let fault = #expect(throws: KafkaFault.self) { try reader.watermarks(of: 0, timeoutMilliseconds: 300) }
            #expect(fault?.isRetriable == true)
            try fixture.cluster.setBroker(1, isUp: true)
            #expect(try reader.records(49).map(\.offset) == Array(1..<50))
        }
    }

    @Test func `two members share the partitions, and one takes over when the other leaves`() throws {
        try withMock { fixture in
            try filled(fixture, perPartition: 1)
            let (first, second) = (try fixture.consumer(), try fixture.consumer())
            try first.subscribe()
            #expect(try first.records(4).count == 4)
            #expect(Set(try first.assignment()) == [0, 1, 2, 3])
            try second.subscribe()
            var changes: [GroupChange] = []
            try settle(first, second, noting: &changes) { $0.count == 2 && $1.count == 2 }
            #expect(changes.contains { if case .revoked(let all) = $0 { all.count == 4 } else { false } })
            #expect(Set(try first.assignment()).isDisjoint(with: try second.assignment()))
            try first.close()
            let isDone = try second.poll { event in
                if case .change(let change) = event { try second.answer(change) }
                return try second.assignment().count == 4
            }
            #expect(isDone)
            try second.close()
        }
    }

    /// Polls two members in turn until their shares are as wanted.
    private func settle(
        _ first: Consumer,
        _ second: Consumer,
        noting changes: inout [GroupChange],
        until isSettled: ([Int32], [Int32]) -> Bool
    ) throws {
        var (answered, watch) = (0, StandstillWatch<Int>())
        while !watch.isStill(answered) {
            for member in [first, second] {
                guard case .change(let change)? = try member.poll(timeoutMilliseconds: 50) else { continue }
                if member === first { changes.append(change) }
                try member.answer(change)
                answered += 1
            }
            if isSettled(try first.assignment(), try second.assignment()) { return }
        }
        Issue.record("the group did not settle")
    }

    @Test func `closing does not wait for an answer to a change`() throws {
        try withMock { fixture in
            let consumer = try fixture.consumer()
            try consumer.subscribe()
            #expect(try consumer.poll { if case .change(.assigned) = $0 { true } else { false } })
            try consumer.close()
            try consumer.close()
        }
    }

    @Test func `a dropped consumer leaves its group`() throws {
        try withMock(partitions: 1) { fixture in
            try filled(fixture, perPartition: 3, partitions: 1)
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
}
