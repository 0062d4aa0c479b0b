import Broker
import Kafka
import KafkaKit
import KafkaPorts
import Pipeline
import Streams
import TestKit
import Testing

@Suite(.waiting)
struct CapturePublisherTests {
    private func publish(
        _ records: [PublishRecord],
        _ fixture: MockFixture,
        isStopped: @autoclosure () -> Bool = false,
        before: (Int) throws -> Void = { _ in },
        options change: (inout CapturePublisher.Options) -> Void = { _ in },
        waiting: (KafkaFault) -> Void = { _ in }
    ) throws -> PublishReport {
        var options = CapturePublisher.Options()
        change(&options)
        let publisher = try CapturePublisher(
            properties: fixture.properties(),
            topic: MockFixture.topic,
            options: options
        )
        var index = 0
        return try publisher.publish(isStopped: isStopped, waiting: waiting) {
            guard index < records.count else { return nil }
            try before(index)
            defer { index += 1 }
            return records[index]
        }
    }

    private let keyed = (0..<40).map { PublishRecord(key: bytes("key \($0)"), value: bytes("\($0)"), partition: 3) }

    @Test func `keys choose partitions as Java clients do`() throws {
        try withMock { fixture in
            let report = try publish(
                keyed + [PublishRecord(key: nil, value: nil), PublishRecord(key: [], value: [])],
                fixture
            )
            #expect(report == PublishReport(acknowledged: 42, failed: 0, firstFailure: nil))
            #expect(report.isComplete)
            for record in try fixture.reader([0, 1, 2, 3]).records(42) {
                guard let key = record.key else { continue }
                #expect(record.partition == Partitioner.murmur2.partition(of: key, count: 4))
            }
        }
    }

    @Test func `records keep their own partition only on request`() throws {
        try withMock { fixture in
            let report = try publish(keyed, fixture, options: { $0.keepsPartitions = true })
            #expect(report.isComplete)
            let records = try fixture.reader([3]).records(40)
            #expect(records.count == 40)
        }
    }

    @Test func `a missing partition fails, and is reported`() throws {
        try withMock { fixture in
            let wrong = PublishRecord(key: nil, value: nil, partition: 4)
            let report = try publish([keyed[0], wrong, keyed[1]], fixture, options: { $0.keepsPartitions = true })
            #expect(report.acknowledged == 1 && report.failed == 1 && !report.isComplete)
            #expect(report.firstFailure?.contains("partition 4") ?? false)
        }
    }

    @Test func `the publisher survives the loss of a broker`() throws {
        try withMock { fixture in
            let report = try publish(keyed, fixture) { index in
                if index == 10 { try fixture.cluster.setBroker(1, isUp: false) }
                if index == 30 { try fixture.cluster.setBroker(1, isUp: true) }
            }
            #expect(report == PublishReport(acknowledged: 40, failed: 0, firstFailure: nil))
            let values = try fixture.reader([0, 1, 2, 3]).records(40).compactMap(\.value)
            #expect(Set(values) == Set(keyed.compactMap(\.value)))
        }
    }

    @Test func `a broker that stays down is named once while it is waited for, and in the report`() throws {
        try withMock { fixture in
            var waits: [String] = []
            let report = try publish(
                keyed,
                fixture,
                before: { if $0 == 0 { try fixture.cluster.setBroker(1, isUp: false) } },
                options: { $0.deliveryMilliseconds = 600 },
                waiting: { waits.append($0.message) }
            )
            #expect(waits.count == 1, "\(waits)")
            #expect(report.failed == 40 && report.acknowledged == 0 && !report.isComplete)
            #expect(report.firstFailure?.contains(MockFixture.topic) ?? false)
        }
    }

    @Test func `records are paced, and a stop takes effect between them`() throws {
        try withMock { fixture in
            let stopwatch = Stopwatch()
            #expect(try publish(keyed, fixture, options: { $0.recordsPerSecond = 200 }).acknowledged == 40)
            // The last of 40 is due 39 intervals after the first.
            #expect(stopwatch.elapsed >= .milliseconds(194))
            var given = 0
            let report = try publish(keyed, fixture, isStopped: given == 7) { given = $0 + 1 }
            #expect(report.acknowledged == 7 && report.isComplete)
        }
    }
}
