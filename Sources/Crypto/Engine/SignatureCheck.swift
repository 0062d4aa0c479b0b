/// One signature to be verified: a batch gathers them from its records and passes them to an engine in groups.
package enum SignatureCheck: Sendable {
    /// ECDSA over P-256; `digest` is what ECDSA sees (for an assertion SHA-256 of the nonce). `second` belongs to `key`;
    /// nil = an engine that needs it computes it.
    case p256(key: P256PublicKey, digest: Digest, signature: P256Signature, second: P256SecondPoint? = nil)
    /// ECDSA over P-384 with a SHA-256 digest: a leaf certificate by its issuer. `signature` is DER.
    case p384(key: P384PublicKey, digest: Digest, signature: [UInt8])
}
