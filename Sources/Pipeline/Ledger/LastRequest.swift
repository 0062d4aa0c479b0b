package import AppAttest
package import Crypto

/// The last accepted request of a key, by which a redelivery is recognized as a duplicate.
package struct LastRequest: Hashable, Sendable {
    package var id: ExactText
    package var valueDigest: Digest
    /// The token's `iat` and `exp`, in seconds since 1970; 0 = the request got no token. A duplicate gets the same ones.
    package var issuedAt: UInt32
    package var expiresAt: UInt32

    package init(id: ExactText, valueDigest: Digest, issuedAt: UInt32 = 0, expiresAt: UInt32 = 0) {
        self.id = id
        self.valueDigest = valueDigest
        self.issuedAt = issuedAt
        self.expiresAt = expiresAt
    }
}
