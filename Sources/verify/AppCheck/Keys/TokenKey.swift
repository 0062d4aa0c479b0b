package import Crypto
internal import JSON

/// A signing key under its published name.
package struct TokenKey: Sendable {
    /// `published` keys are in the key set and verify, but sign nothing.
    package enum State: String, Sendable, CaseIterable { case active, published }

    /// Must always name the same key: verifiers cache keys under it for hours.
    package let kid: String
    package let algorithm: TokenSettings.Algorithm
    package let state: State
    package let key: SigningKey
    /// `base64url(header) .`, the same in every token of this key.
    let encodedHeader: [UInt8]

    /// - Throws: unless the key is RSA for RS256, P-256 for ES256.
    package init(
        kid: String,
        algorithm: TokenSettings.Algorithm,
        state: State = .active,
        key: SigningKey
    ) throws(KeyRingFault) {
        guard !kid.isEmpty else { throw .unnamed }
        guard key.kind == (algorithm == .rs256 ? .rsa : .p256)
        else { throw .wrongKind(kid: kid, algorithm: algorithm.rawValue) }
        (self.kid, self.algorithm, self.state, self.key) = (kid, algorithm, state, key)
        var header = JSONWriter(capacity: 64)
        header.beginObject()
        header.member("kid", kid)
        header.member("typ", "JWT")
        header.member("alg", algorithm.rawValue)
        header.endObject()
        encodedHeader = Base64.encodeURL(header.takeBytes()) + [UInt8(ascii: ".")]
    }
}
