/// The signature on a certificate as it stands in its DER, before anything else in it is believed.
///
/// Our own arithmetic refuses what an authority certainly did not sign. Only OpenSSL accepts a certificate.
package struct CertificateSignature: Sendable {
    private let digest: [UInt8]
    /// SEQUENCE { r, s }.
    private let der: [UInt8]

    /// - Parameter signedPart: the tbsCertificate with its header.
    package init(_ der: [UInt8], over signedPart: Span<UInt8>, _ hash: SignatureHash) {
        (self.der, digest) = (der, hash.hash(signedPart))
    }

    /// Whether the key certainly did not make this signature. False for a P-384 key without a table: OpenSSL decides.
    package func isRefused(by key: IssuerKey, tables: P384Tables = .roots) -> Bool {
        guard Self.arithmeticIsSound else { return false }
        switch key {
        case .p256(let key): return isRefused(by: key)
        case .p384(let key): return tables.table(of: key).map { isRefused(by: $0) } ?? false
        }
    }

    private func isRefused(by table: P384Table) -> Bool {
        // ECDSA sees the leftmost bits, as many as the curve's order has.
        guard let number = P384Number(leftPadding: digest.span.extracting(first: P384Number.byteCount)) else {
            return true
        }
        return CertificateArithmetic.shared.with { $0.isRefused(number, der, by: table) }
    }

    private func isRefused(by key: P256PublicKey) -> Bool {
        guard let number = Digest(digest.span.extracting(first: Digest.byteCount)),
            let signature = P256Signature(strictDER: der)
        else { return true }
        return CertificateArithmetic.shared.with { $0.isRefused(number, signature, by: key) }
    }

    /// A machine on which our arithmetic fails must not refuse what Apple signed.
    private static let arithmeticIsSound = EngineTest.failure(of: .portable, inGroups: false) == nil
}
