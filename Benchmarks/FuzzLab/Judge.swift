internal import AppAttest
internal import Crypto
internal import DeviceLab

/// One lane's verifiers: one that has been used for everything before, and fresh ones now and then, since caches must
/// not change a verdict.
final class Judge {
    private let anchors: TrustAnchors
    private let warm: ObjectVerifier
    private let imitation = OracleEngine()
    private let openSSL = OpenSSLEngine()

    init(anchors: TrustAnchors) {
        self.anchors = anchors
        warm = ObjectVerifier(anchors: anchors)
    }

    /// How an input is to be verified.
    struct Way {
        /// Signed with real signatures, and verified by OpenSSL.
        var isReal = false
        /// By a verifier that has seen nothing before.
        var isFresh = false
    }

    func attestation(
        _ object: [UInt8],
        of keyID: KeyID,
        _ circumstances: Circumstances,
        _ way: Way
    ) -> Result<AttestationEvidence, Refusal> {
        verifier(way).prepareAttestation(
            object,
            clientDataHash: circumstances.clientDataHash,
            keyID: keyID,
            expectations: circumstances.expectations,
            at: circumstances.judged
        ).verified(by: engine(way))
    }

    func assertion(
        _ object: [UInt8],
        by key: P256PublicKey,
        _ circumstances: Circumstances,
        _ way: Way
    ) -> Result<AssertionEvidence, Refusal> {
        verifier(way).prepareAssertion(
            object,
            clientDataHash: circumstances.clientDataHash,
            key: key,
            expectations: circumstances.expectations
        ).verified(by: engine(way))
    }

    func receipt(
        _ object: [UInt8],
        _ expectations: ReceiptExpectations,
        at time: EvaluationTime,
        _ way: Way
    ) -> Result<ReceiptVerdict, Refusal> {
        verifier(way).prepareReceipt(object, expectations: expectations, at: time).verified(by: engine(way))
    }

    private func verifier(_ way: Way) -> ObjectVerifier { way.isFresh ? ObjectVerifier(anchors: anchors) : warm }

    private func engine(_ way: Way) -> any SignatureEngine { way.isReal ? openSSL : imitation }
}
