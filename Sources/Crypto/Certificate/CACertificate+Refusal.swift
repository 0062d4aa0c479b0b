internal import COpenSSL

/// Refusals by our own arithmetic: OpenSSL needs 0.7 ms to find that a P-384 root did not sign a certificate, which any
/// sender may ask for. Only OpenSSL accepts one.
extension CACertificate {
    /// Makes the table of a configured root, if its key is on P-384.
    package func prepareRefusals(in tables: P384Tables = .roots) {
        if case .p384(let key)? = key { tables.prepare(key) }
    }

    /// Whether `issuer`, whose table is made, certainly did not sign this certificate.
    package func isRefused(by issuer: CACertificate, tables: P384Tables = .roots) -> Bool {
        guard case .p384(let key)? = issuer.key, let table = tables.table(of: key), let digest = signedDigest,
            Self.arithmeticIsSound
        else { return false }
        let group = P384Group()
        guard group.append(digest, signature) else { return true }
        var isRefused = false
        group.verify(table, by: .portable) { _, verdict in isRefused = verdict == .refused }
        return isRefused
    }

    /// A machine on which our arithmetic fails must not refuse what Apple signed.
    private static let arithmeticIsSound = EngineTest.failure(of: .portable) == nil

    /// What ECDSA sees of the signed part; nil for another algorithm.
    private var signedDigest: P384Number? {
        guard let part = Self.firstElement(of: der) else { return nil }
        let signed = Array(der[part])
        switch signatureNID {
        case NID_ecdsa_with_SHA256: return P384Number(SHA256.hash(signed))
        case NID_ecdsa_with_SHA384:
            let digest = SHA384.hash(signed.span)
            return P384Number(leftPadding: digest.span)
        default: return nil
        }
    }

    /// The first element inside a DER SEQUENCE, its header included.
    static func firstElement(of der: [UInt8]) -> Range<Int>? {
        guard der.first == 0x30, let outer = content(of: der, at: 0),
            let inner = content(of: der, at: outer.lowerBound),
            inner.upperBound <= outer.upperBound
        else { return nil }
        return outer.lowerBound..<inner.upperBound
    }

    /// Where the content of the element at `start` lies; nil for a length of more than three bytes.
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
