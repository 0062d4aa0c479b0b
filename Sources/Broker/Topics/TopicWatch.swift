internal import Dispatch
internal import Threads

/// Looks at the topics now and then while the worker runs, as the start did: a ledger that begins to expire loses
/// counters, which a restart would find too late.
package final class TopicWatch: Sendable {
    /// The pause between two looks, in milliseconds.
    package static let pause: Int64 = 300_000

    private struct State {
        var isAsking = false
        var lookedAt: Int64
        /// What the last look has found, or the start.
        var known: Set<String>
    }

    private let state: Locked<State>
    private let ask: @Sendable () throws -> [TopicFinding]
    private let say: @Sendable (TopicFinding) -> Void
    private let queue = DispatchQueue(owner: "topics")

    /// - Parameters:
    ///   - now: milliseconds of a clock that never goes back.
    ///   - known: what the start has found, and said.
    ///   - ask: asks the brokers, and waits for the answer.
    package init(
        now: Int64,
        known: [TopicFinding],
        ask: @escaping @Sendable () throws -> [TopicFinding],
        say: @escaping @Sendable (TopicFinding) -> Void
    ) {
        state = Locked(State(lookedAt: now, known: Set(known.map(\.message))))
        (self.ask, self.say) = (ask, say)
    }

    /// Looks when it is time to, unless a look is under way. Waits for nothing.
    package func poll(now: Int64) {
        let isDue = state.withLock { state in
            guard !state.isAsking, now - state.lookedAt >= Self.pause else { return false }
            (state.isAsking, state.lookedAt) = (true, now)
            return true
        }
        if isDue { queue.async { self.note(try? self.ask()) } }
    }

    /// Says what is new.
    ///
    /// - Parameter findings: nil = no broker has answered, as other lines say.
    func note(_ findings: [TopicFinding]?) {
        // A broker that has just started may not know a topic.
        let lasting = findings?.filter { !$0.mayPass }
        let fresh = state.withLock { state in
            state.isAsking = false
            let fresh = lasting?.filter { !state.known.contains($0.message) } ?? []
            if let lasting { state.known = Set(lasting.map(\.message)) }
            return fresh
        }
        fresh.forEach(say)
    }
}
