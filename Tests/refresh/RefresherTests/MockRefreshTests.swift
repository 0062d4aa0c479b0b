internal import AppAttest
internal import Gateway
internal import Kafka
internal import KafkaKit
internal import KafkaPorts
internal import Risk
internal import RiskKit
internal import Settings
internal import Streams
internal import Telemetry
internal import TestKit
internal import Testing

@testable internal import Refresher

/// The refresher's clients on librdkafka's mock cluster: groups, offsets and the writer are the real ones.
@Suite("refresh-receipts on the mock cluster", .waiting)
struct MockRefreshTests {
    private static let partitions: Int32 = 2
    private static let perPartition = 150

    private static func configuration(_ fixture: MockFixture) -> Configuration {
        var configuration = Configuration()
        configuration.topics.requests = "requests"
        configuration.topics.receipts = "receipts"
        configuration.membership = .dynamic
        configuration.kafkaProperties = fixture.properties().map { (name: $0, value: $1) }
        return configuration
    }

    private static func fill(_ fixture: MockFixture, createdAt: EvaluationTime) throws {
        let producer = try fixture.producer()
        let dates = ReceiptDates(type: .attest, createdAt: createdAt)
        for number in 0..<perPartition {
            for partition in 0..<partitions {
                let receipt = SimulatedReceipt(key: 2 * number, dates: dates)
                let record = FakeReceipts.record(receipt, offset: 0, bytes: 3_800)
                try producer.produce(
                    topic: "receipts",
                    partition: partition,
                    key: record.key,
                    value: record.value,
                    headers: record.headers.map { RecordHeader(name: $0.name, value: $0.value) }
                )
            }
        }
        try producer.flush(timeoutMilliseconds: 10_000)
    }

    /// A refresher's life, until `isOver` says so.
    private static func live(
        _ broker: RefreshBroker,
        at start: EvaluationTime,
        caller: FakeCaller,
        isOver: (RefreshLoop) -> Bool
    ) throws {
        let inbox = RefreshInbox()
        let writer = broker.writer(partitions: partitions) { _ in }
        try writer.start { inbox.put(.reports($0)) }
        let loop = RefreshLoop(
            RefreshDriver(try FakeReceipts.rules(), partitions: Int(partitions), judge: FakeReceipts()),
            groups: try LineGroup.all(partitions: partitions, say: { _ in }) { line throws(KafkaFault) in
                try broker.consumer(line)
            },
            caller: caller,
            outlet: writer,
            topic: "requests",
            inbox: inbox,
            monitor: RefreshMonitor(version: "0"),
            say: { _ in }
        )
        // A pass is as long as its pause.
        var now: Int64 = 0
        var watch = StandstillWatch<Int>()
        while !isOver(loop), !watch.isStill(caller.calls.count) {
            let pause = try loop.pass(at: start.after(milliseconds: now), now: now)
            inbox.wait(milliseconds: pause)
            now += pause
        }
        loop.close()
        writer.stop()
    }

    @Test func `every receipt becomes a request on its partition, and none does again after a restart`() throws {
        let fixture = try MockFixture()
        for topic in ["requests", "receipts"] {
            try fixture.cluster.createTopic(topic, partitions: Int(Self.partitions))
        }
        let createdAt = EvaluationTime(milliseconds: 1_700_000_000_000)
        try Self.fill(fixture, createdAt: createdAt)
        let broker = try RefreshBroker(Self.configuration(fixture), instance: "a")
        #expect(try broker.partitions() == Self.partitions)
        #expect(try broker.linesWithoutOffsets(Self.partitions) == ReceiptLine.allCases)
        let all = Int(Self.partitions) * Self.perPartition
        let start = createdAt.after(milliseconds: Milliseconds.hour)
        let first = AnsweringCaller()
        try Self.live(broker, at: start, caller: first) { $0.openCount == 0 && first.calls.count >= all }
        #expect(first.calls.count == all)
        // The other lines have read, and wait: they have no position to commit but the beginning.
        #expect(try !broker.linesWithoutOffsets(Self.partitions).contains(.first))
        let second = AnsweringCaller()
        var passes = 0
        try Self.live(broker, at: start, caller: second) { loop in
            if loop.unfitness == nil { passes += 1 }
            return passes > 50
        }
        #expect(second.calls.isEmpty)
        let reader = try TopicReader(KafkaProperties(fixture.properties()), topic: "requests")
        for partition in 0..<Self.partitions {
            #expect(try reader.watermarks(of: partition, timeoutMilliseconds: 5_000).high == Int64(Self.perPartition))
        }
        withExtendedLifetime(fixture) {}
    }
}

/// Answers each call at once with a new receipt.
private final class AnsweringCaller: FakeCaller {
    override func begin(_ call: ReceiptCall, end: @escaping @Sendable (CallReply) -> Void) {
        super.begin(call, end: end)
        answer(call.number, .answered(FakeReceipts.answer(createdAt: call.due.after(milliseconds: 1))))
    }
}
