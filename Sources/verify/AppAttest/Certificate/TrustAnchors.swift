internal import Crypto

/// The configured roots, read once at start: PEM or DER certificates.
package struct TrustAnchors: Sendable {
    let attestation: [CACertificate]
    let receipt: [CACertificate]

    /// - Parameters:
    ///   - attestation: PEM texts (each may hold several certificates) of the roots of attestation leaves. An
    ///     intermediate among them is trusted as it is.
    ///   - receipt: the same for receipt signers; empty = receipts cannot be judged and every one is `receipt:chain`.
    /// - Throws: ``AnchorFault`` naming the index of the unusable text.
    package init(attestationPEM: [[UInt8]], receiptPEM: [[UInt8]]) throws(AnchorFault) {
        attestation = try Self.read(attestationPEM, .attestation)
        receipt = try Self.read(receiptPEM, .receipt)
    }

    private static func read(_ texts: [[UInt8]], _ list: AnchorFault.List) throws(AnchorFault) -> [CACertificate] {
        var anchors: [CACertificate] = []
        for (index, text) in texts.enumerated() {
            let certificates = CACertificate.readAny(text)
            let absence = certificates.isEmpty ? "has no readable certificate, or has other PEM blocks" : nil
            let reason = absence ?? certificates.lazy.compactMap { Self.flaw(of: $0) }.first
            if let reason { throw AnchorFault(list: list, index: index, reason: reason) }
            anchors += certificates
        }
        return anchors
    }

    private static func flaw(of certificate: CACertificate) -> String? {
        if certificate.key == nil { return "the certificate's key is on neither P-256 nor P-384" }
        if !certificate.isCA || !certificate.mayCertSign { return "the certificate may not issue certificates" }
        do throws(CertificateExtensions.Flaw) { try CertificateExtensions.judge(certificate.der) } catch {
            switch error {
            case .unprocessedCritical: return "the certificate has a critical extension that is not processed here"
            case .notDER: return "the certificate's extensions are not strict DER"
            }
        }
        return nil
    }
}

/// An anchor that cannot be used: which list, which text of it (from 0), and why.
package struct AnchorFault: Error, Equatable, Sendable {
    package enum List: String, Sendable { case attestation, receipt }
    package let list: List
    package let index: Int
    package let reason: String
}
