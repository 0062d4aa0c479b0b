internal import COpenSSL

/// The facts that a certificate states about its own use.
package struct CertificateFacts: Sendable {
    /// basicConstraints is present and says cA.
    package let isCA: Bool
    /// How many intermediates may follow; nil = no limit.
    let pathLength: Int?
    /// keyUsage is absent or has keyCertSign.
    let mayCertSign: Bool
    /// keyUsage is absent or has digitalSignature.
    package let maySign: Bool

    init(isCA: Bool, pathLength: Int?, mayCertSign: Bool, maySign: Bool) {
        (self.isCA, self.pathLength) = (isCA, pathLength)
        (self.mayCertSign, self.maySign) = (mayCertSign, maySign)
    }

    /// Reads a certificate that is refused anyway, to tell why: all that ``CACertificate`` reads, except the key.
    ///
    /// - Returns: nil where ``CACertificate`` reads none either.
    package init?(unusable der: [UInt8]) {
        // `X509Reader` gives a fresh certificate that is ours and freed below.
        guard let handle = unsafe X509Reader.decode(der, isKeyDecoded: false) else { return nil }
        defer { unsafe X509_free(handle) }
        let reader = unsafe X509Reader(handle)
        guard let facts = reader.facts, reader.validity != nil else { return nil }
        self = facts
    }
}
