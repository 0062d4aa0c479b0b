internal import AppAttest
internal import Crypto

/// A certificate before it is signed: every field can be made wrong.
struct CertificateDraft {
    var version: [UInt8] = DER.explicit(0, DER.integer(2))
    var serial: [UInt8]
    var hash: CertificateHash
    /// The AlgorithmIdentifier after the signed part; nil = that inside of it.
    var outerAlgorithm: [UInt8]?
    var issuer: [UInt8]
    var validity: Validity
    var subject: [UInt8]
    var publicKey: [UInt8]
    var extensions: [CertificateExtension]
    /// The last change of the signed part before it is signed.
    var alter: Alteration.Edit = { $0 }

    static func publicKeyInfo(curve: LabCurve, point: [UInt8]) -> [UInt8] {
        DER.sequence(
            DER.sequence(OID.ecPublicKey, curve == .p256 ? OID.p256 : OID.p384),
            DER.bitString(point)
        )
    }

    func unsigned(by key: LabKey) -> UnsignedCertificate {
        let body = alter(toBeSigned)
        return UnsignedCertificate(
            body: body,
            algorithm: outerAlgorithm ?? hash.algorithm,
            signingRequest: LabSigningRequest(key: key, digest: hash.digest(body))
        )
    }

    private var toBeSigned: [UInt8] {
        let list = extensions.isEmpty ? [] : DER.explicit(3, DER.element(0x30, joining: extensions.map(\.der)))
        return DER.sequence(
            version,
            DER.integer(serial),
            hash.algorithm,
            issuer,
            DER.sequence(DER.time(validity.notBefore), DER.time(validity.notAfter)),
            subject,
            publicKey,
            list
        )
    }
}

/// A certificate that lacks nothing but its signature.
struct UnsignedCertificate {
    fileprivate let body: [UInt8]
    fileprivate let algorithm: [UInt8]
    let signingRequest: LabSigningRequest

    func signed(_ signature: LabSignature) -> [UInt8] {
        DER.sequence(body, algorithm, DER.bitString(signature.der))
    }

    func signed(by signer: any LabSigner) -> [UInt8] { signed(signer.sign(signingRequest)) }
}

struct CertificateExtension {
    var oid: [UInt8]
    var isCritical: Bool
    /// The content of the OCTET STRING.
    var value: [UInt8]
    /// Written instead of a critical extension's TRUE.
    var looseCritical: [UInt8]?

    init(_ oid: [UInt8], _ value: [UInt8], isCritical: Bool = false) {
        (self.oid, self.value, self.isCritical) = (oid, value, isCritical)
    }

    static func critical(_ oid: [UInt8], _ value: [UInt8]) -> Self { Self(oid, value, isCritical: true) }

    var der: [UInt8] {
        DER.sequence(oid, isCritical ? looseCritical ?? DER.boolean(true) : [], DER.octetString(value))
    }
}

/// The hash that a certificate is signed over, with the algorithm's name in it.
enum CertificateHash {
    case sha256, sha384

    var algorithm: [UInt8] { DER.sequence(self == .sha256 ? OID.ecdsaSHA256 : OID.ecdsaSHA384) }

    func digest(_ bytes: [UInt8]) -> [UInt8] {
        self == .sha256 ? SHA256.hash(bytes).bytes : LabKey.sha384(bytes)
    }
}

struct Validity: Sendable {
    let notBefore: EvaluationTime
    let notAfter: EvaluationTime

    /// The validity of the lab's standing authorities, up to the last year of UTCTime; the others are years off.
    static let long = Validity(from: (2010, 1, 1), to: (2049, 12, 31))
    static let past = Validity(from: (2001, 1, 1), to: (2002, 1, 1))
    static let future = Validity(from: (2049, 1, 1), to: (2049, 12, 31))
}

extension Validity {
    init(from: (Int, Int, Int), to: (Int, Int, Int)) {
        notBefore = CivilTime.midnight(from.0, from.1, from.2)
        notAfter = CivilTime.midnight(to.0, to.1, to.2)
    }
}
