internal import Dispatch
package import KafkaPorts
internal import Pipeline
internal import Threads

/// Answers one query after the other on a separate queue. Each has its own time-out, so that none pile up behind a
/// silent broker.
package final class QueryThread: BrokerQueries, Sendable {
    private struct State {
        var last = 0
        var isClosed = false
        /// Asked, and not answered yet.
        var open: Set<Int> = []
        var answers: [(id: QueryID, answer: Result<BrokerAnswer, KafkaFault>)] = []
    }

    private let queue = DispatchQueue(owner: "queries", qos: .userInitiated)
    private let state = Locked(State())
    private let answer: @Sendable (BrokerQuery) throws(KafkaFault) -> BrokerAnswer
    private let wake: @Sendable () -> Void

    /// - Parameters:
    ///   - answer: waits for the broker; called for one query at a time.
    ///   - wake: called once an answer has come, on the thread that got it.
    package init(
        wake: @escaping @Sendable () -> Void,
        answer: @escaping @Sendable (BrokerQuery) throws(KafkaFault) -> BrokerAnswer
    ) {
        (self.wake, self.answer) = (wake, answer)
    }

    package func ask(_ query: BrokerQuery) -> QueryID {
        let number = state.withLock { state in
            state.last += 1
            if !state.isClosed { state.open.insert(state.last) }
            return state.last
        }
        queue.async { [self] in run(query, number) }
        return QueryID(number)
    }

    private func run(_ query: BrokerQuery, _ number: Int) {
        // Nobody waits for it any more.
        guard state.withLock({ $0.open.contains(number) }) else { return }
        let result: Result<BrokerAnswer, KafkaFault>
        do throws(KafkaFault) { result = .success(try answer(query)) } catch { result = .failure(error) }
        let isWanted = state.withLock { state in
            guard state.open.remove(number) != nil else { return false }
            state.answers.append((QueryID(number), result))
            return true
        }
        if isWanted { wake() }
    }

    package func forget(_ query: QueryID) {
        state.withLock { state in
            state.open.remove(query.number)
            state.answers.removeAll { $0.id == query }
        }
    }

    package func nextAnswer() -> (id: QueryID, answer: Result<BrokerAnswer, KafkaFault>)? {
        state.withLock { $0.answers.isEmpty ? nil : $0.answers.removeFirst() }
    }

    package func close() {
        state.withLock { state in
            state.isClosed = true
            state.open = []
            state.answers = []
        }
    }
}
