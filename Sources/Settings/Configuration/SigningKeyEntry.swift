package import AppCheck

/// A key that signs tokens, is published only, or was revoked: then its tokens are refused and its file is not needed.
package struct SigningKeyEntry: Sendable, Equatable {
    package enum State: String, Sendable, CaseIterable { case active, published, revoked }
    package var kid = ""
    package var algorithm = TokenSettings.Algorithm.rs256
    package var file = ""
    package var state = State.active
}
