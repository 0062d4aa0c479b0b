package import Crypto
internal import DeviceLab
internal import Threads

/// Stands for a signing key inside a token that can be away: a key of this process, which signs when the seed says so.
package final class UnsteadyKey: HeldKey {
    private struct State {
        var random: SeededRandom
        var failures = 0.0
        var isAvailable = true
        var isWell = true
        var signatures = 0
    }

    private let key: SigningKey
    private let state: Locked<State>

    package init(_ key: SigningKey, seed: UInt64 = 1) {
        self.key = key
        state = Locked(State(random: SeededRandom(seed: seed)))
    }

    package var publicKey: VerificationKey { key.publicKey }
    package var isAvailable: Bool { state.withLock { $0.isAvailable } }
    package var fault: String? { isAvailable ? nil : "is away" }
    /// Signatures made so far.
    package var signatures: Int { state.withLock { $0.signatures } }

    package func signature(of digest: Digest) -> [UInt8]? {
        let signs = state.withLock { state in
            guard state.isAvailable, Double.random(in: 0..<1, using: &state.random) >= state.failures else {
                state.isAvailable = false
                return false
            }
            state.signatures += 1
            return true
        }
        return signs ? key.signature(of: digest) : nil
    }

    package func revive() { state.withLock { $0.isAvailable = $0.isAvailable || $0.isWell } }

    /// - Parameters:
    ///   - failures: of a signature.
    ///   - isWell: whether it comes back where it is tried again.
    package func set(failures: Double, isWell: Bool = true) {
        state.withLock { ($0.failures, $0.isWell) = (failures, isWell) }
    }
}
