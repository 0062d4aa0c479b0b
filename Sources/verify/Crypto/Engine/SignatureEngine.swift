/// Verifies groups of signatures: the interface for a faster engine.
///
/// An engine belongs to one lane; it may keep scratch and is never called by two threads at once.
package protocol SignatureEngine: AnyObject {
    /// - Returns: one answer per check, in order; false for anything but a valid signature.
    func verify(_ checks: [SignatureCheck]) -> [Bool]
    /// The same, into memory that is used again. What `answers` held before is forgotten.
    func verify(_ checks: [SignatureCheck], into answers: inout SignatureAnswers)
}

extension SignatureEngine {
    package func verify(_ checks: [SignatureCheck], into answers: inout SignatureAnswers) {
        answers.begin(count: 0)
        answers.isValid = verify(checks)
    }
}

/// An engine's answers to a group of checks.
package struct SignatureAnswers {
    /// The answer to each check in order; false for anything but a valid signature.
    package var isValid: [Bool] = []

    package init() {}

    /// Forgets everything, but keeps the memory for the next group: `count` answers that refuse.
    mutating func begin(count: Int) {
        isValid.removeAll(keepingCapacity: true)
        for _ in 0..<count { isValid.append(false) }
    }
}

/// One signature to be verified: a batch gathers them from its records and passes them to an engine in groups.
package enum SignatureCheck: Sendable {
    /// ECDSA over P-256; `digest` is what ECDSA sees (for an assertion SHA-256 of the nonce).
    case p256(key: P256PublicKey, digest: Digest, signature: P256Signature)
    /// ECDSA over P-384 with a SHA-256 digest: a leaf certificate by its issuer. `signature` is DER.
    case p384(key: P384PublicKey, digest: Digest, signature: [UInt8])
}
