internal import Crypto

/// What an attestation presents at each of its checks, read from the object a second time.
struct AttestationComparison {
    let object: [UInt8]
    let arguments: InspectionArguments
    let expectations: Expectations
    let time: EvaluationTime
    let limits: ObjectLimits
    let roots: [CACertificate]
    let receiptRoots: [CACertificate]
    let parsed: AttestationObject?
    let leaf: LeafCertificate?
    let issuer: CACertificate?
    /// Whether the receipt proves where the client data hash begins, so that an unannounced extension map counts.
    var isVouched = false

    init(
        object: [UInt8],
        _ arguments: InspectionArguments,
        _ expectations: Expectations,
        at time: EvaluationTime,
        by verifier: ObjectVerifier
    ) {
        self.object = object
        self.arguments = arguments
        self.expectations = expectations
        self.time = time
        limits = verifier.limits
        roots = verifier.intermediates.roots
        receiptRoots = verifier.receipts.roots
        let bytes = object.span
        let parsed = try? AttestationObject(bytes, limits: limits)
        self.parsed = parsed
        leaf = parsed?.certificates.first.flatMap { try? LeafCertificate($0, object.span) }
        issuer = parsed?.certificates.dropFirst().first.flatMap { CACertificate(der: object.span.array($0)) }
    }

    /// nil where nothing can be read, or for reasons that an attestation cannot have.
    func of(_ refusal: Refusal) -> Comparison? {
        switch refusal {
        case .malformedAttestation: shape
        case .malformedAssertion, .signatureInvalid, .keyInvalid: nil
        case .badFormat, .badCertificate, .chain, .expiredOrNotYetValid: certificate(refusal)
        case .nonceMissing, .nonceMalformed, .nonceMismatch: nonce(refusal)
        case .aclMissing, .aclMismatch: accessControl
        case .keyType, .keyIDMismatch: key(refusal)
        case .appIDMismatch, .categoryMissing, .categoryNotAllowed, .bundleVersionMissing, .bundleVersionNotAllowed:
            policy(refusal)
        case .flags, .counterNotZero, .aaguidUnknown, .environmentMismatch, .credentialIDLength,
            .credentialIDMismatch, .coseKeyMismatch, .malformedAuthData, .extensionsNotExpected:
            data(refusal)
        case .receipt(let refusal): receipt(refusal)
        }
    }
}
