package import Crypto

/// The key for checking a request's signature, found before the lanes verify it.
package enum KeyResolution: Sendable, Equatable {
    /// The request needs none, or is refused already.
    case notNeeded
    case unknown
    /// Stored, but no point of the curve.
    case unusable
    /// The key, from the ledger or from an attestation or artifact that is not admitted yet. A key ID is its key's
    /// digest, so all are the same key. Includes every key that Admit may find in the ledger; Admit judges whether it
    /// is there. The second point, where the ledger's partition has kept it.
    case key(P256PublicKey, second: P256SecondPoint? = nil)
}
