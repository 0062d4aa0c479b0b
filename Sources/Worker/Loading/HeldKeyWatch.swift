internal import AppCheck
internal import Crypto
internal import Dispatch
internal import Settings
internal import Telemetry
internal import Threads

/// Tries keys again that are held outside of this process and do not sign, and tells once that one is away, and that it is
/// back. On a queue of its own: a token may take long to answer.
final class HeldKeyWatch: @unchecked Sendable {
    private static let queue = DispatchQueue(owner: "held-keys")
    /// The polls, a second apart, from one try of a key to the next.
    static let pollsPerTry = 5

    private struct State {
        var ring: TokenKeyRing
        /// Keys that were told to be away, with the polls since.
        var away: [String: Int] = [:]
    }

    private let state: Locked<State>
    // Set when the watch starts, then left alone until it goes: one that was never activated could not be released.
    private var timer: (any DispatchSourceTimer)?
    private let say: @Sendable (LogEvent) -> Void

    init(_ ring: TokenKeyRing, say: @escaping @Sendable (LogEvent) -> Void) {
        state = Locked(State(ring: ring))
        self.say = say
    }

    deinit { timer?.cancel() }

    func start() {
        let timer = DispatchSource.makeTimerSource(queue: Self.queue)
        timer.schedule(deadline: .now() + .seconds(1), repeating: .seconds(1))
        timer.setEventHandler { [weak self] in self?.poll() }
        timer.activate()
        self.timer = timer
    }

    /// Watches the keys of a reload.
    func use(_ ring: TokenKeyRing) { state.withLock { $0.ring = ring } }

    func poll() {
        let ring = state.withLock { state in
            // What is not in use any more is not told about.
            state.away = state.away.filter { state.ring[$0.key]?.state == .active }.mapValues { $0 + 1 }
            return state.ring
        }
        for key in ring.keys where key.state == .active {
            guard let held = key.key.held else { continue }
            let polls = state.withLock { $0.away[key.kid] }
            if polls == nil, !held.isAvailable { tell(key, isAway: true, held.fault) }
            if (polls ?? 0).isMultiple(of: Self.pollsPerTry), !held.isAvailable { held.revive() }
            if held.isAvailable, state.withLock({ $0.away[key.kid] }) != nil { tell(key, isAway: false, nil) }
        }
    }

    private func tell(_ key: TokenKey, isAway: Bool, _ fault: String?) {
        state.withLock { $0.away[key.kid] = isAway ? 0 : nil }
        let name = "signing key \(key.kid.printable)"
        guard isAway else { return say(LogEvent(.info, .keyBack, "\(name) signs again")) }
        let why = fault.map { " \($0)" } ?? " does not sign"
        say(LogEvent(.error, .keyAway, "\(name)\(why.printable): exchanges that need it are deferred until it signs"))
    }
}
