/// Refusals by our own arithmetic: OpenSSL needs 0.7 ms to find that a P-384 root did not sign a certificate, which any
/// sender may ask for. Only OpenSSL accepts one.
extension CACertificate {
    /// Makes the table of a configured root, if its key is on P-384.
    package func prepareRefusals(in tables: P384Tables = .roots) {
        if case .p384(let key)? = key { tables.prepare(key) }
    }

    /// Whether `issuer` certainly did not sign this certificate; false for a P-384 issuer whose table is not made.
    package func isRefused(by issuer: CACertificate, tables: P384Tables = .roots) -> Bool {
        guard let key = issuer.key, let hash, let part = Self.firstElement(of: der) else { return false }
        let der = der
        let signed = CertificateSignature(signature, over: der.span.extracting(part), hash)
        return signed.isRefused(by: key, tables: tables)
    }

    /// The first element inside a DER SEQUENCE, its header included.
    static func firstElement(of der: [UInt8]) -> Range<Int>? {
        guard der.first == 0x30, let outer = content(of: der, at: 0),
            let inner = content(of: der, at: outer.lowerBound),
            inner.upperBound <= outer.upperBound
        else { return nil }
        return outer.lowerBound..<inner.upperBound
    }

    /// The range of the content of the element at `start`; nil for a length of more than three bytes.
    private static func content(of der: [UInt8], at start: Int) -> Range<Int>? {
        guard start + 1 < der.count else { return nil }
        let first = Int(der[start + 1])
        let lengthBytes = first < 0x80 ? 0 : first - 0x80
        let content = start + 2 + lengthBytes
        guard lengthBytes <= 3, content <= der.count else { return nil }
        let length = lengthBytes == 0 ? first : der[(start + 2)..<content].reduce(0) { $0 << 8 | Int($1) }
        return length <= der.count - content ? content..<(content + length) : nil
    }
}
