internal import COpenSSL

/// The public key of a certificate that may sign others.
package enum IssuerKey: Sendable {
    case p256(P256PublicKey)
    case p384(P384PublicKey)
}

/// An X.509 certificate read by OpenSSL: anchors, intermediates and receipt signers, which are few and kept.
///
/// Reading one costs 100 µs, too much for every record: only certificates that no cache has get here.
@safe package final class CACertificate: Sendable {
    /// The certificate, exactly as given.
    package let der: [UInt8]
    /// SHA-256 of `der`.
    package let digest: Digest
    /// The DER of the subject's and the issuer's `Name`.
    package let subject: [UInt8]
    package let issuer: [UInt8]
    /// The DER of the serial number's `INTEGER`.
    package let serial: [UInt8]
    /// nil for any key that is not a point on P-256 or P-384.
    package let key: IssuerKey?
    /// Milliseconds since 1970 UTC; both ends belong to the validity.
    package let notBefore: Int64
    package let notAfter: Int64
    private let facts: CertificateFacts

    // Owned, freed in deinit; every lazy part of it is computed in the initialiser, later uses only read.
    nonisolated(unsafe) private let handle: OpaquePointer

    /// - Returns: nil unless `der` is exactly one DER certificate whose extensions OpenSSL finds well-formed.
    package init?(der: [UInt8]) {
        // `X509Reader` gives a fresh certificate that is ours from here on.
        guard let handle = unsafe X509Reader.decode(der) else { return nil }
        let reader = unsafe X509Reader(handle)
        guard let facts = reader.facts, let validity = reader.validity else {
            unsafe X509_free(handle)
            return nil
        }
        unsafe self.handle = unsafe handle
        self.der = der
        digest = SHA256.hash(der)
        subject = reader.subject
        issuer = reader.issuer
        serial = reader.serial
        key = reader.key
        (notBefore, notAfter) = validity
        self.facts = facts
    }

    deinit {
        // The pointer has no other owner: it leaves only through `withHandle`.
        unsafe X509_free(handle)
    }

    package var isCA: Bool { facts.isCA }
    package var pathLength: Int? { facts.pathLength }
    package var mayCertSign: Bool { facts.mayCertSign }
    package var maySign: Bool { facts.maySign }

    /// The subject for people: `/CN=…/O=…` in ASCII, other characters as `\xNN`.
    package var subjectName: String {
        // The text is allocated for us, copied, then freed; the name belongs to the certificate.
        guard let text = unsafe X509_NAME_oneline(X509_get_subject_name(handle), nil, 0) else { return "" }
        defer { unsafe CRYPTO_free(text, nil, 0) }
        return unsafe String(cString: text)
    }

    /// Whether an extension with this identifier is present.
    ///
    /// - Parameter oid: dotted, such as `1.2.840.113635.100.12.15`.
    package func hasExtension(_ oid: String) -> Bool {
        // The object is ours and freed below; the certificate is only read.
        guard let object = unsafe OBJ_txt2obj(oid, 1) else { return false }
        defer { unsafe ASN1_OBJECT_free(object) }
        return unsafe X509_get_ext_by_OBJ(handle, object, -1) >= 0
    }

    /// Whether `issuer`'s key made this certificate's signature: ECDSA with SHA-256, SHA-384 or SHA-512.
    ///
    /// The caller checks names, dates, constraints and critical extensions.
    package func isSigned(by issuer: CACertificate) -> Bool {
        guard !isRefused(by: issuer) else { return false }
        // Both certificates are alive and only read; OpenSSL locks what it caches inside them.
        guard issuer.key != nil, hash != nil, let key = unsafe X509_get0_pubkey(issuer.handle) else { return false }
        let isValid = unsafe X509_verify(handle, key) == 1
        ERR_clear_error()
        return isValid
    }

    /// The hash under an ECDSA signature; nil for another algorithm.
    var hash: SignatureHash? {
        switch unsafe X509_get_signature_nid(handle) {
        case NID_ecdsa_with_SHA256: .sha256
        case NID_ecdsa_with_SHA384: .sha384
        case NID_ecdsa_with_SHA512: .sha512
        default: nil
        }
    }

    var signature: [UInt8] {
        var signature: UnsafePointer<ASN1_BIT_STRING>?
        // Both outputs belong to the certificate; the bytes are copied at once.
        unsafe X509_get0_signature(&signature, nil, handle)
        guard let signature = unsafe signature, let data = unsafe ASN1_STRING_get0_data(signature) else { return [] }
        return unsafe [UInt8](UnsafeBufferPointer(start: data, count: Int(ASN1_STRING_length(signature))))
    }

    /// The `X509`, valid inside `body` and only to be read.
    func withHandle<Result>(_ body: (OpaquePointer) -> Result) -> Result {
        unsafe body(handle)
    }
}

extension CACertificate {
    /// One DER certificate, or all of a PEM text; empty for anything else.
    package static func readAny(_ bytes: [UInt8]) -> [CACertificate] {
        CACertificate(der: bytes).map { [$0] } ?? readPEM(bytes)
    }

    /// All certificates of a PEM text, in order; text around the blocks is ignored.
    ///
    /// - Returns: empty if a block is anything but one readable certificate, and if there is none.
    package static func readPEM(_ text: [UInt8]) -> [CACertificate] {
        var certificates: [CACertificate] = []
        for block in PEMBlock.all(of: text) ?? [] {
            guard block.name == "CERTIFICATE", let certificate = CACertificate(der: block.contents) else { return [] }
            certificates.append(certificate)
        }
        return certificates
    }
}
