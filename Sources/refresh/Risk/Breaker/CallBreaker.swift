package import AppAttest

/// Stops the calls of an account whose answers show that more of them would do harm, or nothing; a single call every 15
/// minutes finds out whether that is over. Nothing is lost: its receipts wait meanwhile.
package struct CallBreaker: Sendable, Equatable {
    package static let probeMilliseconds = 15 * Milliseconds.minute

    package enum State: Sendable, Equatable {
        case closed
        case open(cause: CallFailure, nextProbe: EvaluationTime)
    }

    package enum Change: Sendable, Equatable {
        case opened(CallFailure)
        case closed
    }

    package private(set) var state = State.closed
    /// Failures in a row. Any answer ends a row of pressure, any but a refusal a row of 401, and a
    /// verified one alone a row of answers that are not understood.
    private var counts: [CallFailure: Int] = [:]

    package init() {}

    package var isOpen: Bool { state != .closed }

    /// Whether nothing is worth remembering.
    package var isFresh: Bool { !isOpen && counts.isEmpty }

    /// When the account's next call may begin; nil = at any time.
    package var opensAt: EvaluationTime? {
        if case .open(_, let nextProbe) = state { nextProbe } else { nil }
    }

    /// A call begins. While the breaker is open it is the probe, and the next one has its own time.
    package mutating func begin(at time: EvaluationTime) {
        guard case .open(let cause, let nextProbe) = state else { return }
        precondition(nextProbe <= time, "an open breaker lets nothing but its probes through")
        state = .open(cause: cause, nextProbe: time.after(milliseconds: Self.probeMilliseconds))
    }

    /// Makes the next call the probe, as after a reload that may have brought another key.
    package mutating func probe(at time: EvaluationTime) {
        if case .open(let cause, _) = state { state = .open(cause: cause, nextProbe: time) }
    }

    /// A call has failed.
    package mutating func fail(_ failure: CallFailure, at time: EvaluationTime) -> Change? {
        if failure != .pressure { counts[.pressure] = nil }
        counts[failure, default: 0] += 1
        guard !isOpen, counts[failure] ?? 0 >= failure.mostInRow else { return nil }
        state = .open(cause: failure, nextProbe: time.after(milliseconds: Self.probeMilliseconds))
        return .opened(failure)
    }

    /// A call has brought a verified receipt: all is well.
    package mutating func succeed() -> Change? {
        let wasOpen = isOpen
        self = CallBreaker()
        return wasOpen ? .closed : nil
    }

    /// Apple has said that it has nothing for this receipt. It hears us and knows the team; whether its receipts are
    /// understood here is still open.
    package mutating func answer() -> Change? {
        counts = counts.filter { $0.key == .answer }
        guard case .open(let cause, _) = state, cause != .answer else { return nil }
        state = .closed
        return .closed
    }
}

/// The account that Apple counts calls against: a team in one environment, each of which is a host of its own.
package struct CallAccount: Hashable, Sendable {
    /// The team ID of the configuration.
    package let team: String
    package let environment: Environment
}
