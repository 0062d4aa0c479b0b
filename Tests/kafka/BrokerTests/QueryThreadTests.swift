import Broker
import BrokerKit
import Dispatch
import KafkaPorts
import Pipeline
import Settings
import TestKit
import Testing
internal import Threads

@Suite("The thread of a member's queries", .waiting)
struct QueryThreadTests {
    /// A broker that answers once the test lets it, and counts.
    private final class Broker: Sendable {
        let mayAnswer = DispatchSemaphore(value: 0)
        let asked = Locked<[BrokerQuery]>([])
        let wakes = Locked(0)

        func thread() -> QueryThread {
            QueryThread { [wakes] in
                wakes.withLock { $0 += 1 }
            } answer: { [self] query throws(KafkaFault) in
                asked.withLock { $0.append(query) }
                mayAnswer.wait()
                guard case .offsets(let partitions, _) = query else { throw KafkaFault(.timedOut, "no answer") }
                return .offsets(partitions.map { CommittedOffset(partition: $0, offset: 7) }, hasAny: true)
            }
        }

        func answers(_ thread: QueryThread, _ count: Int) -> [(id: QueryID, answer: Result<BrokerAnswer, KafkaFault>)] {
            var all: [(id: QueryID, answer: Result<BrokerAnswer, KafkaFault>)] = []
            _ = eventually {
                while let answer = thread.nextAnswer() { all.append(answer) }
                return all.count
            } until: {
                $0 == count
            }
            return all
        }

        var questions: Int { asked.withLock { $0.count } }

        /// Waits for so many questions.
        func isAsked(_ count: Int) -> Bool { eventually({ questions }, until: { $0 == count }) }
    }

    @Test func `asking waits for nobody, queries go one by one in order, and each answer has its number`() {
        let broker = Broker()
        let thread = broker.thread()
        let ids = [thread.ask(.topics), thread.ask(.offsets([3], limit: 5_000))]
        #expect(thread.nextAnswer() == nil)
        #expect(broker.isAsked(1))
        broker.mayAnswer.signal()
        #expect(broker.isAsked(2))
        broker.mayAnswer.signal()
        let answers = broker.answers(thread, 2)
        #expect(answers.map(\.id) == ids)
        #expect(
            answers.map(\.answer) == [
                .failure(KafkaFault(.timedOut, "no answer")),
                .success(.offsets([CommittedOffset(partition: 3, offset: 7)], hasAny: true)),
            ]
        )
        #expect(broker.wakes.withLock { $0 } == 2)
    }

    @Test func `a forgotten query is not asked, and one under way goes on without an answer`() {
        let broker = Broker()
        let thread = broker.thread()
        let ids = (0..<3 as Range<Int32>).map { thread.ask(.offsets([$0], limit: 5_000)) }
        #expect(broker.isAsked(1))
        thread.forget(ids[0])
        thread.forget(ids[1])
        for _ in 0..<3 { broker.mayAnswer.signal() }
        #expect(broker.answers(thread, 1).map(\.id) == [ids[2]])
        #expect(broker.asked.withLock { $0 } == [.offsets([0], limit: 5_000), .offsets([2], limit: 5_000)])
        #expect(broker.wakes.withLock { $0 } == 1)
    }

    @Test func `a closed thread answers nothing more`() {
        let broker = Broker()
        let thread = broker.thread()
        _ = thread.ask(.topics)
        #expect(broker.isAsked(1))
        thread.close()
        broker.mayAnswer.signal()
        let id = thread.ask(.offsets([0], limit: 5_000))
        thread.forget(id)
        #expect(thread.nextAnswer() == nil && broker.questions == 1)
    }
}

@Suite("A member's ports on librdkafka", .waiting)
struct MemberAssemblyTests {
    private final class NoWriter: WriterHost {
        func submit(_ job: WriterJob) {}
        func nextOutcome() -> WriterOutcome? { nil }
    }

    private func answer(_ queries: any BrokerQueries, _ query: BrokerQuery) -> Result<BrokerAnswer, KafkaFault>? {
        let id = queries.ask(query)
        var found: Result<BrokerAnswer, KafkaFault>?
        _ = eventually {
            if let answer = queries.nextAnswer(), answer.id == id { found = answer.answer }
            return found != nil
        } until: {
            $0
        }
        return found
    }

    @Test func `queries ask the newest consumer, and say so where there is none`() throws {
        try withMockTopics { _, settings in
            let ports = try MemberAssembly(settings, wake: {}).ports(writer: NoWriter())
            guard case .failure(let fault)? = answer(ports.queries, .topics) else { return #expect(Bool(false)) }
            #expect(fault.isRetriable && !fault.isFatal)
            let first = try ports.makeConsumer()
            first.discard()
            let consumer = try ports.makeConsumer()
            guard case .success(.topics(let topics))? = answer(ports.queries, .topics) else {
                return #expect(Bool(false))
            }
            #expect(Set(topics.map(\.name)).isSuperset(of: settings.topics.all))
            let none = (0..<2 as Range<Int32>).map { CommittedOffset(partition: $0, offset: nil) }
            #expect(answer(ports.queries, .offsets([0, 1], limit: 5_000)) == .success(.offsets(none, hasAny: false)))
            let empty = Watermarks(low: 0, high: 0)
            #expect(
                answer(ports.queries, .ends([0], again: [1]))
                    == .success(.ends(ledger: [0: empty, 1: empty], requests: [0: empty, 1: empty], nil))
            )
            consumer.discard()
        }
    }
}
