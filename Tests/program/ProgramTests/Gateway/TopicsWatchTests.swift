internal import Dispatch
internal import Pipeline
internal import Testing

@testable internal import Run

@Suite("A gateway's view of its brokers")
struct TopicsWatchTests {
    private static let expected = TopicPartitions(requests: 6, replies: nil)

    private let watch = TopicsWatch(Self.expected, now: 0) { _ in .present }

    @Test func `brokers that do not answer are lost in less than 3 s, and back with one answer`() {
        // As it is asked: a question each half second, and a second for its answer.
        for time: Int64 in [1_000, 2_500] { watch.note(.away("connection refused"), at: time) }
        #expect(watch.hindrance(now: 1_000 + TopicsWatch.grace) == nil)
        #expect(watch.hindrance(now: 1_001 + TopicsWatch.grace) == "no broker answers: connection refused")
        #expect(TopicsWatch.grace + TopicsWatch.pause < 3_000)
        watch.note(.present, at: 5_000)
        #expect(watch.hindrance(now: 5_000) == nil)
        // Whoever asked nothing for a while, since it stood still, has no broker to blame.
        #expect(watch.hindrance(now: 60_000) == nil)
    }

    @Test func `a question that nobody answers counts from when it was asked`() {
        let gate = DispatchSemaphore(value: 0)
        let watch = TopicsWatch(Self.expected, now: 0) { _ in
            gate.wait()
            return .present
        }
        watch.poll(now: { 40_000 })
        #expect(watch.hindrance(now: 40_000 + TopicsWatch.grace) == nil)
        #expect(watch.hindrance(now: 40_001 + TopicsWatch.grace) == "no broker answers")
        gate.signal()
    }

    @Test func `another number of partitions is for good, until it is the old one again`() {
        watch.note(.partitions(TopicPartitions(requests: 12, replies: nil)), at: 1)
        #expect(
            watch.hindrance(now: 2)
                == "the topics have 12 partitions, 6 partitions at the start: start the gateway again; workers judge nothing: "
                + KeyPlacement.remedy
        )
        watch.note(.present, at: 3)
        #expect(watch.hindrance(now: 4) != nil, "no answer about partitions")
        watch.note(.partitions(Self.expected), at: 5)
        #expect(watch.hindrance(now: 6) == nil)
    }

    @Test func `a topic that is missing counts once it is missed twice: a broker that starts knows none`() {
        watch.note(.unfit("no such topic"), at: 1)
        #expect(watch.hindrance(now: 2) == nil)
        watch.note(.unfit("no such topic"), at: 3)
        #expect(watch.hindrance(now: 4) == "no such topic")
        watch.note(.partitions(Self.expected), at: 5)
        #expect(watch.hindrance(now: 6) == nil)
    }
}
