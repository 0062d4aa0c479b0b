package import Crypto
internal import DeviceLab
internal import Threads

/// Stands for a signing key inside a token that can be away: a key of this process, which signs when the seed says so, and
/// whose signatures may never return.
package final class UnsteadyKey: HeldKey {
    /// Bugs that seeds must find: a signature that is waited for without a limit, threads without one.
    package enum Sabotage: CaseIterable { case waitsForever, countsNoCalls }

    private struct State {
        var random: SeededRandom
        var failures = 0.0
        var hangs = 0.0
        /// Threads of the worker's own that a signature keeps.
        var stuck = 0
        var isAvailable = true
        var isWell = true
        var signatures = 0
    }

    private let key: SigningKey
    private let state: Locked<State>
    private let threads = ParkingThreads()
    private let calls: BoundedCalls
    private let sabotage: Sabotage?
    package static let mostCalls = 3

    package init(_ key: SigningKey, seed: UInt64 = 1, sabotage: Sabotage? = nil) {
        (self.key, self.sabotage) = (key, sabotage)
        state = Locked(State(random: SeededRandom(seed: seed)))
        calls = BoundedCalls(on: threads, most: sabotage == .countsNoCalls ? .max : Self.mostCalls)
    }

    package var publicKey: VerificationKey { key.publicKey }
    package var isAvailable: Bool { state.withLock { $0.isAvailable } }
    package var fault: String? { isAvailable ? nil : "is away" }
    /// Signatures made so far.
    package var signatures: Int { state.withLock { $0.signatures } }

    /// Threads that hang with a signature: those that are left to it, and those that must not be.
    package var left: Int { threads.parked }
    package var stuck: Int { state.withLock { $0.stuck } }

    package func signature(of digest: Digest) -> [UInt8]? {
        let fate: (fails: Bool, hangs: Bool)? = state.withLock { state in
            guard state.isAvailable else { return nil }
            let fails = Double.random(in: 0..<1, using: &state.random) < state.failures
            return (fails, Double.random(in: 0..<1, using: &state.random) < state.hangs)
        }
        guard let fate else { return nil }
        if fate.hangs, sabotage == .waitsForever { state.withLock { $0.stuck += 1 } }
        threads.set(hangs: fate.hangs)
        let made = calls.run(within: .zero) { [key] in fate.fails ? nil : key.signature(of: digest) } ?? nil
        state.withLock { state in
            state.isAvailable = made != nil
            state.signatures += made == nil ? 0 : 1
        }
        return made
    }

    package func revive() {
        threads.set(hangs: false)
        let isWell = state.withLock { $0.isWell }
        let answers = calls.run(within: .zero) { isWell } ?? false
        state.withLock { $0.isAvailable = $0.isAvailable || answers }
    }

    /// Lets signatures return that nobody waits for any more.
    package func release() { threads.release() }

    /// - Parameters:
    ///   - failures: of a signature.
    ///   - hangs: of a signature that never returns.
    ///   - isWell: whether it comes back where it is tried again.
    package func set(failures: Double, hangs: Double = 0, isWell: Bool = true) {
        state.withLock { ($0.failures, $0.hangs, $0.isWell) = (failures, hangs, isWell) }
    }
}
