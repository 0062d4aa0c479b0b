package import Crypto

/// What a receipt says, before anything about it is verified.
package struct ReceiptContent: Sendable, Equatable {
    /// Field 2.
    package let appID: [UInt8]
    /// Field 3: the attested key's leaf certificate, DER.
    package let leaf: [UInt8]
    /// Field 4; garbage in RECEIPT receipts.
    package let clientHash: [UInt8]?
    /// Field 5, whose meaning only Apple knows. Each receipt of a key has the same, as it has the same leaf.
    package let token: [UInt8]?
    /// Field 6; nil for a type that Apple does not document.
    package let type: ReceiptType?
    /// Field 7; nil if it is missing or has another value.
    package let environment: Environment?
    package let createdAt: EvaluationTime
    package let notBefore: EvaluationTime?
    package let expiresAt: EvaluationTime
    /// Field 17, decimal text.
    package let riskMetric: ExactText?
    /// The leaf's key; nil for a leaf that cannot be read.
    package let publicKey: P256PublicKey?
    /// The beginning of the leaf's validity, a day before the key was attested.
    package let leafNotBefore: EvaluationTime?

    /// - Returns: nil for bytes that cannot be read.
    package init?(unverified receipt: [UInt8]) {
        guard let payload = ReceiptPayload(ofReceipt: receipt) else { return nil }
        let span = payload.bytes.span
        appID = span.array(payload.appID)
        leaf = span.array(payload.leaf)
        clientHash = payload.clientHash.map { payload.bytes.span.array($0) }
        token = payload.token.map { payload.bytes.span.array($0) }
        (type, environment, riskMetric) = (payload.type, payload.environment, payload.riskMetric)
        (createdAt, notBefore, expiresAt) = (payload.createdAt, payload.notBefore, payload.expiresAt)
        let certificate = try? LeafCertificate(payload.leaf, span)
        (publicKey, leafNotBefore) = (certificate?.key, certificate?.validity.notBefore)
    }
}
