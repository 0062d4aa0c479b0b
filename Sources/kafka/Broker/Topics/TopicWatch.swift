internal import Dispatch
internal import Threads

/// Looks at the topics now and then while the worker runs, as the start did: a ledger that begins to expire loses
/// counters, which a restart would find too late.
package final class TopicWatch: Sendable {
    /// Five minutes, at ten polls a second.
    static let pollsPerLook = 3_000

    private let state: Locked<(polls: Int, isAsking: Bool, known: Set<String>)>
    private let ask: @Sendable () throws -> [TopicFinding]
    private let say: @Sendable (TopicFinding) -> Void
    private let queue = DispatchQueue(owner: "topics")

    /// - Parameter known: what the start has found, and said.
    package init(
        known: [TopicFinding],
        ask: @escaping @Sendable () throws -> [TopicFinding],
        say: @escaping @Sendable (TopicFinding) -> Void
    ) {
        state = Locked((0, false, Set(known.map(\.message))))
        (self.ask, self.say) = (ask, say)
    }

    /// Looks when it is time to, unless a look is under way. Waits for nothing.
    package func poll() {
        let isDue = state.withLock { state in
            state.polls += 1
            guard state.polls >= Self.pollsPerLook, !state.isAsking else { return false }
            (state.polls, state.isAsking) = (0, true)
            return true
        }
        if isDue { queue.async { self.note(try? self.ask()) } }
    }

    /// Says what is new. No answer changes nothing: other lines tell of brokers that are away.
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
