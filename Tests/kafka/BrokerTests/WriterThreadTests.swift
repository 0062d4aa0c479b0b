import Broker
import BrokerKit
import Kafka
import KafkaKit
import KafkaPorts
import Member
import Pipeline
import Settings
import Streams
import TestKit
import Testing
internal import Threads

/// Outputs on librdkafka, written on a thread of their own.
@Suite(.waiting)
struct WriterThreadTests {
    /// Kafka's protocol numbers.
    private static let (initProducerID, endTransaction, offsetCommit): (Int16, Int16, Int16) = (22, 26, 28)
    private static let coordinatorLoading: Int32 = 14
    private static let illegalGeneration: Int32 = 22
    private static let counts = Dictionary(uniqueKeysWithValues: TopicNames.ofTests.all.map { ($0, 4 as Int32) })

    /// A writer and the thread that it belongs to.
    private final class Bench {
        let writer: WriterThread
        let cluster: MockCluster
        private let stopwatch = Stopwatch()
        private let wakes = Locked(0)
        private let properties: [(String, String)]

        init(
            _ cluster: MockCluster,
            _ settings: BrokerSettings,
            _ delivery: OutputWriter.Settings.Delivery
        ) throws {
            let (stopwatch, wakes) = (stopwatch, wakes)
            let assembly = try MemberAssembly(settings) { wakes.withLock { $0 += 1 } }
            writer = try assembly.writer(delivery) {
                Moment(milliseconds: Int64(stopwatch.elapsed / .milliseconds(1)))
            }
            (self.cluster, properties) = (cluster, settings.properties)
        }

        var now: Moment { Moment(milliseconds: Int64(stopwatch.elapsed / .milliseconds(1))) }

        func outcome() throws -> WriterOutcome {
            let isWoken = eventually {
                wakes.withLock { $0 }
            } until: {
                $0 > 0
            }
            #expect(isWoken)
            wakes.withLock { $0 -= 1 }
            return try #require(writer.nextOutcome())
        }

        /// The job's final outcome.
        func run(_ job: WriterJob) throws -> WriterOutcome {
            writer.submit(job)
            while true {
                let outcome = try outcome()
                if case .stillTakingOver = outcome { continue }
                return outcome
            }
        }

        func writes(_ batch: OutputBatch) throws -> Bool {
            if case .written = try run(.write(batch)) { true } else { false }
        }

        func batch(_ numbers: Range<Int32> = 0..<4, _ change: (inout OutputBatch) -> Void = { _ in }) -> OutputBatch {
            let records = numbers.flatMap { number in [record(.results, number), record(.ledger, number)] }
            var batch = OutputBatch(
                records: records,
                offsets: [PartitionOffset(partition: 0, offset: 7)],
                token: LibraryToken(GroupMetadata(withoutMembersOf: "group")),
                budget: CallBudget(until: now + 1_000_000)
            )
            change(&batch)
            return batch
        }

        func record(_ stream: OutputTopic, _ number: Int32) -> OutboundRecord {
            OutboundRecord(
                stream: stream,
                partition: number % 4,
                sourceOffset: Int64(number),
                sourceTimestamp: 0,
                key: nil,
                value: bytes("\(number)")
            )
        }

        func count(of topic: String) throws -> Int {
            var count = 0
            try TopicDump.read(topic, KafkaProperties(properties), partitions: 4) { _ in count += 1 }
            return count
        }
    }

    private func withWriter(
        _ delivery: OutputWriter.Settings.Delivery = .transaction,
        _ more: [(String, String)] = [],
        _ body: (Bench) throws -> Void
    ) throws {
        try withMockTopics { cluster, settings in
            var settings = settings
            settings.properties += more
            settings.commitsOffsetsAside = false
            let bench = try Bench(cluster, settings, delivery)
            guard case .tookOver = try bench.run(.takeOver(Self.counts)) else {
                Issue.record("not taken over")
                return
            }
            try body(bench)
            guard case .closed = try bench.run(.close) else {
                Issue.record("not closed")
                return
            }
        }
    }

    @Test func `outputs are written, aborted and written again`() throws {
        try withWriter { bench in
            for round in 0..<3 as Range<Int64> {
                let outcome = try bench.run(.write(bench.batch()))
                guard case .written(let ends, let share, offsetsAreDue: false, _) = outcome else {
                    Issue.record("\(outcome)")
                    return
                }
                #expect(ends == Dictionary(uniqueKeysWithValues: (0..<4).map { ($0, round + 1) }))
                #expect((0..<1).contains(share))
            }
            bench.cluster.failRequests(Self.offsetCommit, with: [Self.illegalGeneration])
            let failed = try bench.run(.write(bench.batch()))
            guard case .failed(let fault, []) = failed else {
                Issue.record("\(failed)")
                return
            }
            #expect(fault.code == Self.illegalGeneration && fault.requiresAbort && !fault.isFatal)
            let aborted = try bench.run(.abort)
            guard case .aborted(isUnknown: false, _) = aborted else {
                Issue.record("\(aborted)")
                return
            }
            #expect(try bench.writes(bench.batch()))
            // The mock shows aborted records too.
            #expect(try bench.count(of: "results") == 20)
        }
    }

    @Test func `at least once the ledger arrives after the outputs, and the offsets are due`() throws {
        try withWriter(.atLeastOnce) { bench in
            let outcome = try bench.run(.write(bench.batch()))
            guard case .written([:], _, offsetsAreDue: true, _) = outcome else {
                Issue.record("\(outcome)")
                return
            }
            let aborted = try bench.run(.abort)
            guard case .aborted(isUnknown: true, _) = aborted else {
                Issue.record("\(aborted)")
                return
            }
            #expect(try bench.writes(bench.batch(4..<6)))
            #expect(try bench.count(of: "results") == 6)
            #expect(try bench.count(of: "ledger") == 6)
        }
    }

    @Test func `a writer ends while its transactional id is not taken over`() throws {
        try withMockTopics { cluster, settings in
            let coordinatorsLoading = Array(repeating: Self.coordinatorLoading, count: 100_000)
            cluster.failRequests(Self.initProducerID, with: coordinatorsLoading)
            let bench = try Bench(cluster, settings, .transaction)
            bench.writer.submit(.takeOver(Self.counts))
            #expect(bench.writer.finish(limit: 60_000))
        }
    }

    @Test func `an output that hurries gives up offsets without an answer, and the next producer works`() throws {
        try withWriter { bench in
            #expect(try bench.writes(bench.batch()))
            bench.cluster.failRequests(25, with: Array(repeating: 15, count: 100_000))
            let batch = bench.batch()
            bench.writer.submit(.write(batch))
            pause(milliseconds: 300)
            batch.budget.shorten(to: bench.now)
            let outcome = try bench.outcome()
            guard case .failed(let fault, []) = outcome else {
                Issue.record("\(outcome)")
                return
            }
            #expect(fault.isTimeout && fault.requiresAbort && !fault.isFatal)
            // Unknown, unless this machine was too slow for the call to begin.
            _ = try bench.run(.abort)
            bench.cluster.answerRequests(25)
            guard case .tookOver = try bench.run(.takeOver([:])) else {
                Issue.record("not taken over")
                return
            }
            #expect(try bench.writes(bench.batch()))
        }
    }

    @Test func `a writer that is ended while an output is written waits for its outcome`() throws {
        try withMockTopics { cluster, settings in
            let bench = try Bench(cluster, settings, .transaction)
            cluster.failRequests(Self.endTransaction, with: Array(repeating: Self.coordinatorLoading, count: 100_000))
            bench.writer.submit(.takeOver(Self.counts))
            let budget = CallBudget(until: bench.now + 1_000_000)
            let batch = bench.batch { $0.budget = budget }
            guard case .tookOver = try bench.outcome() else {
                Issue.record("not taken over")
                return
            }
            bench.writer.submit(.write(batch))
            budget.shorten(to: bench.now + 300)
            bench.writer.finish()
            let outcomes = [bench.writer.nextOutcome(), bench.writer.nextOutcome(), bench.writer.nextOutcome()]
            guard case .failed? = outcomes[0], case .closed? = outcomes[1], case nil = outcomes[2] else {
                Issue.record("\(outcomes)")
                return
            }
        }
    }
}
