package import AppCheck
internal import Crypto
internal import Dispatch
package import Settings
package import Telemetry
internal import Threads

/// Tries keys again that are held outside of this process and do not sign, and tells once that one is away, and that it is
/// back. On a queue of its own: a token may take long to answer.
package final class HeldKeyWatch: @unchecked Sendable {
    private static let queue = DispatchQueue(owner: "held-keys")
    /// The polls, a second apart, from one try of a key to the next.
    static let pollsPerTry = 5

    private struct State {
        var ring: TokenKeyRing
        var silent: [SilentKey]
        /// Keys that were told to be away, with the polls since.
        var away: [String: Int] = [:]
    }

    private let state: Locked<State>
    // Set when the watch starts, then left alone until it goes: one that was never activated could not be released.
    private var timer: (any DispatchSourceTimer)?
    private let reload: @Sendable () -> Void
    private let say: @Sendable (LogEvent) -> Void

    /// - Parameters:
    ///   - silent: keys that are not open yet.
    ///   - reload: called when one of these signs: it opens them.
    package init(
        _ ring: TokenKeyRing,
        silent: [SilentKey] = [],
        reload: @escaping @Sendable () -> Void = {},
        say: @escaping @Sendable (LogEvent) -> Void
    ) {
        state = Locked(State(ring: ring, silent: silent))
        (self.reload, self.say) = (reload, say)
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
    package func use(_ ring: TokenKeyRing, silent: [SilentKey] = []) {
        state.withLock { ($0.ring, $0.silent) = (ring, silent) }
    }

    package func poll() {
        let keys = state.withLock { state in
            let silent = state.silent.map { ($0.kid, $0 as any DistantKey) }
            let keys =
                state.ring.keys.filter { $0.state == .active }
                .compactMap { key in key.key.held.map { (key.kid, $0 as any DistantKey) } } + silent
            // What is not in use any more is not told about.
            state.away = state.away.filter { away in keys.contains { $0.0 == away.key } }.mapValues { $0 + 1 }
            return keys
        }
        for (kid, key) in keys {
            let polls = state.withLock { $0.away[kid] }
            if polls == nil, !key.isAvailable { tell(kid, isAway: true, key.fault) }
            if (polls ?? 0).isMultiple(of: Self.pollsPerTry), !key.isAvailable { key.revive() }
            guard key.isAvailable, state.withLock({ $0.away[kid] }) != nil else { continue }
            tell(kid, isAway: false, nil)
            if key is SilentKey { reload() }
        }
    }

    private func tell(_ kid: String, isAway: Bool, _ fault: String?) {
        state.withLock { $0.away[kid] = isAway ? 0 : nil }
        let name = "signing key \(kid.printable)"
        guard isAway else { return say(LogEvent(.info, .keyBack, "\(name) signs again")) }
        let why = fault.map { " \($0)" } ?? " does not sign"
        say(LogEvent(.error, .keyAway, "\(name)\(why.printable): exchanges that need it are deferred until it signs"))
    }
}
