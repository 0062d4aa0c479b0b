package import Crypto

/// The share of an app's devices that may attest.
package struct Rollout: Sendable, Equatable {
    package enum Mode: String, Sendable, CaseIterable { case off, shadow, on }
    /// A percentage has at most six decimal places: 10 % are 10,000,000 parts of 100,000,000.
    package static let whole: Int64 = 100_000_000

    package var mode: Mode
    /// Parts of ``whole``.
    package var parts: Int64
    package var seed: String
    /// SHA-256 of the ids of test devices that are inside whatever the share, and of those that are outside.
    package var always: Set<Digest>
    package var never: Set<Digest>

    package init(
        mode: Mode = .off,
        parts: Int64 = 0,
        seed: String = "",
        always: Set<Digest> = [],
        never: Set<Digest> = []
    ) {
        self.mode = mode
        self.parts = parts
        self.seed = seed
        self.always = always
        self.never = never
    }
}
