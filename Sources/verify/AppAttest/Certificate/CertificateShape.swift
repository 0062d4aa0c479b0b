internal import Crypto

/// An authority's or a receipt signer's certificate by a walk over its DER, before anything vouches for it.
///
/// Its faults are a part of those for which OpenSSL or ``CertificateExtensions`` refuse one, so it may refuse early;
/// only ``CACertificate`` is ever believed.
struct CertificateShape {
    /// The certificate itself; all ranges are offsets into one buffer.
    let whole: Range<Int>
    /// Names and serial number, each with its header.
    let issuer: Range<Int>
    let subject: Range<Int>
    let serial: Range<Int>
    /// Content of the [3] with the extensions.
    let extensions: Range<Int>?
    private let signedPart: Range<Int>
    /// The parts of the key; nil where it is not spelled in DER.
    private let keyAlgorithm: Range<Int>?
    private let point: Range<Int>?
    /// nil for an algorithm that no authority's certificate may have.
    private let hash: SignatureHash?
    private let signature: Range<Int>?

    /// Three times those of Apple's: OpenSSL takes its time for each element of a certificate.
    private static let mostElements = 256

    /// - Throws: for what is certainly no certificate that can be used.
    init(_ range: Range<Int>, _ bytes: Span<UInt8>) throws(DERFault) {
        whole = range
        var certificate = DERReader(try DERReader.only(.sequence, in: range, bytes))
        let signed = try certificate.element(.sequence, bytes)
        signedPart = signed.whole
        let algorithm = try certificate.element(.sequence, bytes)
        let bits = try certificate.element(.bitString, bytes)
        try certificate.expectEnd()
        var fields = DERReader(signed.content)
        if fields.isNext(.explicit(0), bytes) { _ = try fields.next(bytes) }
        serial = try fields.element(.integer, bytes).whole
        let inner = try fields.element(.sequence, bytes)
        issuer = try fields.element(.sequence, bytes).whole
        _ = try fields.element(.sequence, bytes)
        subject = try fields.element(.sequence, bytes).whole
        let key = try fields.element(.sequence, bytes)
        extensions = try CertificateExtensions.find(&fields, bytes)
        if let extensions { try CertificateExtensions.judge(list: extensions, bytes) }
        (keyAlgorithm, point) = Self.key(key.content, bytes)
        // The signature covers one of the two identifiers only: both must be the same.
        hash = bytes.same(algorithm.whole, inner.whole) ? Self.hash(algorithm.content, bytes) : nil
        var reader = DERReader(bits.whole)
        signature = try? reader.octetsOfBitString(bytes)
    }

    /// The key, if it may be an authority's: a point on P-256 or P-384.
    func key(_ bytes: Span<UInt8>) -> IssuerKey? {
        guard let keyAlgorithm, let point else { return nil }
        let x963 = bytes.extracting(point)
        if bytes.holds(AlgorithmIdentifier.p256, in: keyAlgorithm) {
            return P256PublicKey(x963: x963).map { .p256($0) }
        }
        guard bytes.holds(AlgorithmIdentifier.p384, in: keyAlgorithm) else { return nil }
        return P384PublicKey(x963: x963).map { .p384($0) }
    }

    /// Whether the key certainly did not sign this certificate.
    func isRefused(by key: IssuerKey, _ bytes: Span<UInt8>) -> Bool {
        guard let hash, let signature else { return true }
        let signed = CertificateSignature(bytes.array(signature), over: bytes.extracting(signedPart), hash)
        return signed.isRefused(by: key)
    }

    /// Whether the certificate names `root` as its issuer and bears a signature that may be the root's. An anchor may
    /// be the certificate itself.
    func mayBeIssued(by root: CACertificate, _ bytes: Span<UInt8>) -> Bool {
        if bytes.holds(root.der, in: whole) { return true }
        guard let key = root.key, root.pathLength != 0, bytes.holds(root.subject, in: issuer) else { return false }
        return !isRefused(by: key, bytes)
    }

    /// OpenSSL's reading of a certificate that is refused in any case.
    enum Reading {
        case facts(CertificateFacts)
        /// It cannot be read or used at all.
        case unreadable
        /// It has so many parts that reading it would cost more than the answer is worth.
        case notRead
    }

    /// Reads the certificate to tell why it is refused.
    func reading(_ bytes: Span<UInt8>) -> Reading {
        guard DERReader.elements(in: whole, areAtMost: Self.mostElements, bytes) else { return .notRead }
        return CertificateFacts(unusable: bytes.array(whole)).map { .facts($0) } ?? .unreadable
    }

    private static func key(
        _ content: Range<Int>,
        _ bytes: Span<UInt8>
    ) -> (algorithm: Range<Int>?, point: Range<Int>?) {
        var info = DERReader(content)
        guard let algorithm = try? info.element(.sequence, bytes) else { return (nil, nil) }
        let point = try? info.octetsOfBitString(bytes)
        return (algorithm.whole, info.isAtEnd ? point : nil)
    }

    private static func hash(_ algorithm: Range<Int>, _ bytes: Span<UInt8>) -> SignatureHash? {
        var parts = DERReader(algorithm)
        guard let identifier = try? parts.next(.objectIdentifier, bytes),
            let last = identifier.last, bytes.holds(ObjectIdentifier.ecdsaWithSHA2, in: identifier.dropLast())
        else { return nil }
        switch bytes[last] {
        case 2: return .sha256
        case 3: return .sha384
        case 4: return .sha512
        default: return nil
        }
    }
}

/// Algorithm identifiers as whole DER SEQUENCEs: one spelling each, compared byte for byte.
enum AlgorithmIdentifier {
    /// ecdsa-with-SHA256 (RFC 5758 section 3.2), parameters absent.
    static let ecdsaWithSHA256: [UInt8] = [
        0x30, 0x0A, 0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x04, 0x03, 0x02,
    ]
    /// id-ecPublicKey with prime256v1 (RFC 5480 section 2.1.1).
    static let p256: [UInt8] = [
        0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01,
        0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07,
    ]
    /// id-ecPublicKey with secp384r1.
    static let p384: [UInt8] = [
        0x30, 0x10, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x05, 0x2B, 0x81, 0x04, 0x00, 0x22,
    ]
}

/// Object identifiers as their DER content octets.
enum ObjectIdentifier {
    static let basicConstraints: [UInt8] = [0x55, 0x1D, 0x13]
    static let commonName: [UInt8] = [0x55, 0x04, 0x03]
    static let keyUsage: [UInt8] = [0x55, 0x1D, 0x0F]
    /// 1.2.840.10045.4.3: ECDSA; the octet after it is 2, 3 or 4 for SHA-256, SHA-384 and SHA-512.
    static let ecdsaWithSHA2: [UInt8] = [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x04, 0x03]
    /// 1.2.840.113635.100.12.15, the marker of receipt signers.
    static let receiptSigning: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x63, 0x64, 0x0C, 0x0F]

    /// 1.2.840.113635.100.8, the arc of Apple's attestation extensions; the extension is the octet after it.
    static let appleAttestation: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x63, 0x64, 0x08]
}
