internal import COpenSSL

/// What a certificate says about its own use.
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
    /// OpenSSL decodes a key whose algorithm it knows while it reads a certificate, which takes 80 % of the time. It
    /// continues where the algorithm is unknown, so it reads a copy with an unassigned one.
    ///
    /// - Parameter keyAlgorithm: where the content of the key's algorithm identifier's OID lies.
    /// - Returns: nil where ``CACertificate`` reads none either.
    package init?(unusable der: [UInt8], keyAlgorithm: Range<Int>?) {
        var copy = der
        if let place = keyAlgorithm, Self.isIdentifier(der[place]) {
            // One byte for each part of the identifier: well-formed, whatever its length.
            for index in place { copy[index] = 0x7F }
        }
        // `X509Reader` gives a fresh certificate that is ours and freed below.
        guard let handle = unsafe X509Reader.decode(copy) else { return nil }
        defer { unsafe X509_free(handle) }
        let reader = unsafe X509Reader(handle)
        guard let facts = reader.facts, reader.validity != nil else { return nil }
        self = facts
    }

    /// Whether OpenSSL takes these bytes for an object identifier: no part begins with a padding byte, the last ends.
    private static func isIdentifier(_ content: ArraySlice<UInt8>) -> Bool {
        guard let last = content.last, last < 0x80 else { return false }
        var begins = true
        for byte in content {
            if begins && byte == 0x80 { return false }
            begins = byte < 0x80
        }
        return true
    }
}
