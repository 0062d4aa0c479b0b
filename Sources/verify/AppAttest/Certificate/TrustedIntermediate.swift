internal import Crypto

/// An intermediate that a configured root has issued: the parts that a leaf's checks need. Its dates, and the root's,
/// are judged per record.
struct TrustedIntermediate: Sendable {
    let subject: [UInt8]
    let key: IssuerKey
    let validity: Validity
    /// The validity of each configured root that signed it; one valid root is enough.
    let roots: [Validity]

    /// The leaf's signature as an open check.
    ///
    /// - Throws: `chain` where the leaf names another issuer or the signature cannot be one of the issuer's key.
    func signatureCheck(of leaf: LeafCertificate, _ bytes: Span<UInt8>) throws(Refusal) -> SignatureCheck {
        guard bytes.holds(subject, in: leaf.issuer) else { throw .chain }
        let digest = SHA256.hash(bytes.extracting(leaf.signedPart))
        switch key {
        case .p384(let key):
            return .p384(key: key, digest: digest, signature: bytes.array(leaf.signature))
        case .p256(let key):
            guard let signature = P256Signature(strictDER: bytes.extracting(leaf.signature)) else { throw .chain }
            return .p256(key: key, digest: digest, signature: signature)
        }
    }
}

/// The intermediates verified so far against the configured roots, by SHA-256 of their whole DER.
///
/// Apple has used one intermediate since 2020; parsing and verifying it again would triple an attestation's cost.
struct TrustedIntermediates {
    let roots: [CACertificate]
    private var known: VerifiedCache<TrustedIntermediate>
    /// The one that was trusted last, by its bytes: comparing them costs a sixth of their digest.
    private var last: (der: [UInt8], intermediate: TrustedIntermediate)?

    init(roots: [CACertificate], capacity: Int = 64) {
        self.roots = roots
        for root in roots { root.prepareRefusals() }
        known = VerifiedCache(capacity: capacity)
    }

    var count: Int { known.count }

    /// The intermediate of this DER, if a configured root has issued it as a CA.
    ///
    /// - Throws: `bad-certificate` if it cannot be read or used by itself, `chain` if no root vouches for it.
    mutating func trusted(_ range: Range<Int>, _ bytes: Span<UInt8>) throws(Refusal) -> TrustedIntermediate {
        if let last, bytes.holds(last.der, in: range) { return last.intermediate }
        let intermediate = try found(range, bytes)
        last = (bytes.array(range), intermediate)
        return intermediate
    }

    private mutating func found(_ range: Range<Int>, _ bytes: Span<UInt8>) throws(Refusal) -> TrustedIntermediate {
        let digest = SHA256.hash(bytes.extracting(range))
        if let found = known.find(digest) { return found }
        try refuseStranger(range, bytes)
        let intermediate = try verified(bytes.array(range))
        known.insert(digest, intermediate)
        return intermediate
    }

    /// Refuses what no root certainly issued before OpenSSL reads it: anybody can write one.
    private func refuseStranger(_ range: Range<Int>, _ bytes: Span<UInt8>) throws(Refusal) {
        // A root is never sent.
        let isRoot = roots.contains { $0.subject == $0.issuer && bytes.holds($0.der, in: range) }
        guard !isRoot else { throw .chain }
        guard let shape = try? CertificateShape(range, bytes), shape.key(bytes) != nil else { throw .badCertificate }
        guard !roots.contains(where: { shape.mayBeIssued(by: $0, bytes) }) else { return }
        if case .unreadable = shape.reading(bytes) { throw .badCertificate }
        throw .chain
    }

    private func verified(_ der: [UInt8]) throws(Refusal) -> TrustedIntermediate {
        guard let certificate = CACertificate(der: der), let key = certificate.key,
            (try? CertificateExtensions.judge(der)) != nil
        else { throw .badCertificate }
        // A root is never sent, so a certificate that names itself as its issuer is not an intermediate.
        guard certificate.isCA, certificate.mayCertSign, certificate.subject != certificate.issuer else {
            throw .chain
        }
        let issuers = roots.filter { $0.hasIssued(certificate) }
        guard !issuers.isEmpty else { throw .chain }
        // From here on the key is known to be trusted, and many leaves will name it.
        if case .p384(let key) = key { P384Tables.shared.prepare(key) }
        return TrustedIntermediate(
            subject: certificate.subject,
            key: key,
            validity: Validity(of: certificate),
            roots: issuers.map { Validity(of: $0) }
        )
    }
}

extension CACertificate {
    /// Whether this anchor vouches for an intermediate. One whose path length is 0 may issue leaves only. An anchor may be
    /// the intermediate itself.
    func hasIssued(_ certificate: CACertificate) -> Bool {
        if der == certificate.der { return true }
        return subject == certificate.issuer && pathLength != 0 && certificate.isSigned(by: self)
    }
}
