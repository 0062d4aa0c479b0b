internal import Crypto

/// The certificates of a receipt before OpenSSL has read all of them: finds lists that certainly do not chain.
struct UnverifiedSigners {
    struct Member {
        let shape: CertificateShape
        /// nil for a certificate that was in no list that chained, and is not a root.
        let known: CACertificate?
        /// SHA-256 of its bytes.
        let digest: Digest
    }

    private let members: [Member]
    /// The one that the container names; nil where none or several are.
    let signer: Member?
    /// The one that the signer names; nil where none or several are.
    let intermediate: Member?
    /// All but these two.
    private let others: [Member]

    /// - Parameters:
    ///   - known: for each certificate.
    ///   - digests: for each certificate, SHA-256 of its bytes.
    /// - Throws: `bad-certificate` where one is not spelled as a certificate, or the signer's use is another.
    init(
        _ container: ReceiptContainer,
        _ known: [CACertificate?],
        _ digests: [Digest],
        _ bytes: Span<UInt8>
    ) throws(ReceiptRefusal) {
        var members: [Member] = []
        for (index, range) in container.certificates.enumerated() {
            guard let shape = try? CertificateShape(range, bytes) else { throw .badCertificate }
            members.append(Member(shape: shape, known: known[index], digest: digests[index]))
        }
        self.members = members
        let named = members.indices.filter { Self.isNamed(members[$0].shape, by: container.signerID, bytes) }
        guard named.count == 1, let index = named.first else {
            (signer, intermediate, others) = (nil, nil, [])
            return
        }
        let signer = members.remove(at: index)
        guard Self.isReceiptSigner(signer, bytes) else { throw .badCertificate }
        self.signer = signer
        let issuers = members.indices.filter { bytes.same(members[$0].shape.subject, signer.shape.issuer) }
        intermediate = issuers.count == 1 ? members.remove(at: issuers[0]) : nil
        others = members
    }

    /// The certificate by which the list certainly fails to chain, chosen by the list alone and not by what is known;
    /// nil where our own arithmetic finds nothing against it.
    ///
    /// - Parameter issuing: the roots that issued the intermediate, as far as our own arithmetic can tell.
    func stranger(_ roots: [CACertificate], issuing: [CACertificate], _ bytes: Span<UInt8>) -> Member? {
        guard let signer else {
            // None is named, or several are: the marker tells which one was meant.
            return members.first { Self.hasMarker($0.shape, bytes) } ?? Self.first(of: members, notIn: roots, bytes)
        }
        guard let intermediate else { return Self.first(of: others, notIn: roots, bytes) ?? signer }
        guard !issuing.isEmpty else { return intermediate }
        if let other = other(than: issuing, bytes) { return other }
        guard let key = intermediate.known?.key ?? intermediate.shape.key(bytes) else { return intermediate }
        return signer.shape.isRefused(by: key, bytes) ? signer : nil
    }

    /// The first certificate that is neither signer, intermediate nor one of `roots`.
    func other(than roots: [CACertificate], _ bytes: Span<UInt8>) -> Member? {
        Self.first(of: others, notIn: roots, bytes)
    }

    /// Why a list is refused that does not chain: `bad-certificate` where the stranger cannot be used by itself.
    ///
    /// No other certificate is read for that: each costs as much as all else in the receipt.
    func refusal(_ stranger: Member?, _ bytes: Span<UInt8>) -> ReceiptRefusal {
        if let known = signer?.known, known.isCA || !known.maySign { return .badCertificate }
        guard let stranger, stranger.known == nil else { return .chain }
        switch stranger.shape.reading(bytes) {
        case .unreadable: return .badCertificate
        case .notRead: return .chain
        case .facts(let facts):
            guard let signer, signer.shape.whole == stranger.shape.whole else { return .chain }
            return facts.isCA || !facts.maySign ? .badCertificate : .chain
        }
    }

    private static func first(of list: [Member], notIn roots: [CACertificate], _ bytes: Span<UInt8>) -> Member? {
        list.first { member in !roots.contains { bytes.holds($0.der, in: member.shape.whole) } }
    }

    private static func hasMarker(_ shape: CertificateShape, _ bytes: Span<UInt8>) -> Bool {
        guard let extensions = shape.extensions else { return false }
        return CertificateExtensions.have(ObjectIdentifier.receiptSigning, extensions, bytes)
    }

    /// Whether a SignerInfo's issuer and serial number are the certificate's.
    private static func isNamed(_ shape: CertificateShape, by id: Range<Int>, _ bytes: Span<UInt8>) -> Bool {
        let (issuer, serial) = (shape.issuer, shape.serial)
        guard id.count == issuer.count + serial.count else { return false }
        return bytes.same(id.prefix(issuer.count), issuer) && bytes.same(id.dropFirst(issuer.count), serial)
    }

    private static func isReceiptSigner(_ member: Member, _ bytes: Span<UInt8>) -> Bool {
        guard hasMarker(member.shape, bytes), case .p256 = member.known?.key ?? member.shape.key(bytes)
        else { return false }
        return true
    }
}
