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

/// Outputs on librdkafka, written on a thread of their own. What becomes of them is the contract's.
@Suite(.waiting)
struct WriterThreadTests {
    /// Kafka's protocol numbers.
    private static let (initProducerID, addOffsets, endTransaction): (Int16, Int16, Int16) = (22, 25, 26)
    private static let (coordinatorLoading, coordinatorAbsent): (Int32, Int32) = (14, 15)
    private static let counts = Dictionary(uniqueKeysWithValues: TopicNames.ofTests.all.map { ($0, 4 as Int32) })

    private static func always(_ code: Int32) -> [Int32] { Array(repeating: code, count: 100_000) }

    /// A writer and the thread that it belongs to.
    private final class Bench {
        let writer: WriterThread
        private let stopwatch = Stopwatch()
        private let wakes = Locked(0)

        init(_ settings: BrokerSettings) throws {
            let (stopwatch, wakes) = (stopwatch, wakes)
            let assembly = try MemberAssembly(settings) { wakes.withLock { $0 += 1 } }
            writer = try assembly.writer(.transaction) {
                Moment(milliseconds: Int64(stopwatch.elapsed / .milliseconds(1)))
            }
        }

        var now: Moment { Moment(milliseconds: Int64(stopwatch.elapsed / .milliseconds(1))) }

        func outcome() throws -> WriterOutcome {
            let isWoken = eventually({ wakes.withLock { $0 } }, until: { $0 > 0 })
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

        func takesOver(_ counts: [String: Int32]) throws -> Bool {
            if case .tookOver = try run(.takeOver(counts)) { true } else { false }
        }

        func writes(_ batch: OutputBatch) throws -> Bool {
            if case .written = try run(.write(batch)) { true } else { false }
        }

        func batch() -> OutputBatch {
            OutputBatch(
                records: (0..<4 as Range<Int32>).flatMap { [record(.results, $0), record(.ledger, $0)] },
                offsets: [PartitionOffset(partition: 0, offset: 7)],
                token: GroupMetadata(withoutMembersOf: "group"),
                budget: CallBudget(until: now + 1_000_000)
            )
        }

        private func record(_ stream: OutputTopic, _ number: Int32) -> OutboundRecord {
            OutboundRecord(
                stream: stream,
                partition: number,
                sourceOffset: Int64(number),
                sourceTimestamp: 0,
                key: nil,
                value: bytes("\(number)")
            )
        }
    }

    @Test func `a writer ends while its transactional id is not taken over`() throws {
        try withMockTopics { cluster, settings in
            cluster.failRequests(Self.initProducerID, with: Self.always(Self.coordinatorLoading))
            let bench = try Bench(settings)
            bench.writer.submit(.takeOver(Self.counts))
            #expect(bench.writer.finish(limit: 60_000))
        }
    }

    @Test func `an output that hurries gives up offsets without an answer, and the next producer works`() throws {
        try withMockTopics { cluster, settings in
            var settings = settings
            settings.commitsOffsetsAside = false
            let bench = try Bench(settings)
            try #require(try bench.takesOver(Self.counts))
            #expect(try bench.writes(bench.batch()))
            cluster.failRequests(Self.addOffsets, with: Self.always(Self.coordinatorAbsent))
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
            cluster.answerRequests(Self.addOffsets)
            try #require(try bench.takesOver([:]))
            #expect(try bench.writes(bench.batch()))
            #expect(bench.writer.finish(limit: 60_000))
        }
    }

    @Test func `a writer that is ended while an output is written waits for its outcome`() throws {
        try withMockTopics { cluster, settings in
            let bench = try Bench(settings)
            cluster.failRequests(Self.endTransaction, with: Self.always(Self.coordinatorLoading))
            try #require(try bench.takesOver(Self.counts))
            let batch = bench.batch()
            bench.writer.submit(.write(batch))
            batch.budget.shorten(to: bench.now + 300)
            bench.writer.finish()
            let outcomes = [bench.writer.nextOutcome(), bench.writer.nextOutcome(), bench.writer.nextOutcome()]
            guard case .failed? = outcomes[0], case .closed? = outcomes[1], case nil = outcomes[2] else {
                Issue.record("\(outcomes)")
                return
            }
        }
    }
}
