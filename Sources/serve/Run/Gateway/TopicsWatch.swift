internal import Broker
internal import CommandFrame
internal import Dispatch
internal import Kafka
internal import Pipeline
internal import Settings
internal import Threads

/// Asks the brokers beside the thread that serves whether one answers, and now and then how many partitions the topics
/// have: keys of a topic with another number lie elsewhere, and answers would not be found.
package final class TopicsWatch: Sendable {
    /// The outcome of a question.
    package enum Answer: Sendable {
        /// A broker answered.
        case present
        case partitions(TopicPartitions)
        /// A broker answered, but the topics are not as they must be: a sentence.
        case unfit(String)
        /// Why none answered.
        case away(String)
    }

    /// The pause between two questions.
    static let pause: Int64 = 500
    /// How long a question, and those after it, may stay without an answer; with a question's time-out and pause less than the 3 s that the page promises.
    static let grace: Int64 = 1_900
    static let timeoutMilliseconds = 1_000
    /// The pause between two counts of the partitions, which ask for all topics.
    static let countPause: Int64 = 5_000

    private struct State {
        var isAsking = false
        var askedAt: Int64
        var countedAt: Int64
        /// The time of the first question that no broker has answered; nil = the last one was answered.
        var silentSince: Int64?
        /// Why no broker answered last.
        var fault: String?
        /// The fault of the topics, and how often in a row it was found: a broker that starts knows none.
        var wrong: (sentence: String, times: Int)?
    }

    private let expected: TopicPartitions
    private let ask: @Sendable (_ counts: Bool) -> Answer
    private let run: @Sendable (@escaping @Sendable () -> Void) -> Void
    private let state: Locked<State>

    /// - Parameters:
    ///   - now: milliseconds of a clock that never goes back.
    ///   - run: runs a question outside of the serving thread.
    ///   - ask: asks the brokers, for the partitions too or not; waits for the answer.
    package init(
        _ expected: TopicPartitions,
        now: Int64,
        run: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void = TopicsWatch.onQueue(),
        ask: @escaping @Sendable (_ counts: Bool) -> Answer
    ) {
        (self.expected, self.run, self.ask) = (expected, run, ask)
        state = Locked(State(askedAt: now, countedAt: now))
    }

    /// Runs questions on a queue of their own.
    package static func onQueue() -> @Sendable (@escaping @Sendable () -> Void) -> Void {
        let queue = DispatchQueue(owner: "gateway.brokers")
        return { queue.async(execute: $0) }
    }

    /// Asks when it is time to, unless a question is open. Waits for nothing.
    func poll(now: @escaping @Sendable () -> Int64) {
        let time = now()
        let counts: Bool? = state.withLock { state in
            guard !state.isAsking, time - state.askedAt >= Self.pause else { return nil }
            (state.isAsking, state.askedAt) = (true, time)
            state.silentSince = state.silentSince ?? time
            let counts = state.wrong != nil || time - state.countedAt >= Self.countPause
            if counts { state.countedAt = time }
            return counts
        }
        guard let counts else { return }
        run { self.note(self.ask(counts), at: now()) }
    }

    /// Why the gateway must not take calls, in a sentence; nil = nothing speaks against it.
    func hindrance(now: Int64) -> String? {
        state.withLock { state in
            if let since = state.silentSince, now - since > Self.grace {
                return "no broker answers" + (state.fault.map { ": \($0)" } ?? "")
            }
            return state.wrong.flatMap { $0.times > 1 ? $0.sentence : nil }
        }
    }

    func note(_ answer: Answer, at now: Int64) {
        state.withLock { state in
            state.isAsking = false
            if case .away(let fault) = answer {
                (state.silentSince, state.fault) = (state.silentSince ?? now, fault)
                return
            }
            (state.silentSince, state.fault) = (nil, nil)
            switch answer {
            case .present, .away: break
            case .unfit(let sentence): state.wrong = (sentence, (state.wrong?.times ?? 0) + 1)
            case .partitions(let found) where found == expected: state.wrong = nil
            case .partitions(let found):
                let sentence =
                    "the topics have \(found.text), \(expected.text) at the start: start the gateway again"
                    + (found.requests == expected.requests ? "" : "; workers judge nothing: \(KeyPlacement.remedy)")
                // Partitions are only ever added: this needs no second poll.
                state.wrong = (sentence, 2)
            }
        }
    }
}

extension TopicsWatch {
    /// A watch with a client of its own.
    convenience init(_ expected: TopicPartitions, _ topics: TopicNames, _ properties: KafkaProperties, now: Int64) {
        let client = Locked<Admin?>(nil)
        self.init(expected, now: now) { counts in
            client.withLock { client in
                do {
                    if client?.isOutdated == true { client = nil }
                    let admin = try client ?? Admin(properties)
                    client = admin
                    guard counts else {
                        try admin.ping(timeoutMilliseconds: Self.timeoutMilliseconds)
                        return .present
                    }
                    return .partitions(
                        try TopicPartitions(topics, admin, timeoutMilliseconds: Self.timeoutMilliseconds)
                    )
                } catch let fault as CommandFault {
                    return .unfit(AttestWorker.sentence(for: fault))
                } catch {
                    return .away(AttestWorker.sentence(for: error))
                }
            }
        }
    }
}
