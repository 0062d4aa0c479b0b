internal import Crypto

/// The certificates of a receipt before OpenSSL has read all of them: finds lists that certainly do not chain.
struct UnverifiedSigners {
    struct Member {
        let shape: CertificateShape
        /// nil for a certificate that was in no list that chained, and is no root.
        let known: CACertificate?
    }

    private let members: [Member]
    /// The one that the container names; nil where none or several are.
    private let signer: Member?
    /// The one that the signer names; nil where none or several are.
    let intermediate: Member?
    /// All but these two.
    private let others: [Member]

    /// - Parameter known: for each certificate.
    /// - Throws: `bad-certificate` where one is not spelled as a certificate, or the signer's use is another.
    init(
        _ container: ReceiptContainer,
        _ known: [CACertificate?],
        _ bytes: Span<UInt8>
    ) throws(ReceiptRefusal) {
        var members: [Member] = []
        for (range, certificate) in zip(container.certificates, known) {
            guard let shape = try? CertificateShape(range, bytes) else { throw .badCertificate }
            members.append(Member(shape: shape, known: certificate))
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

    /// Whether our own arithmetic finds nothing against the signer's signature and every certificate beside it.
    ///
    /// - Parameter roots: those that issued the intermediate, as far as our own arithmetic can tell.
    func mayChain(to roots: [CACertificate], _ bytes: Span<UInt8>) -> Bool {
        guard let signer, let intermediate, !roots.isEmpty,
            others.allSatisfy({ other in roots.contains { bytes.holds($0.der, in: other.shape.whole) } }),
            let key = intermediate.known?.key ?? intermediate.shape.key(bytes)
        else { return false }
        return !signer.shape.isRefused(by: key, bytes)
    }

    /// Why a list is refused that does not chain: `bad-certificate` where a certificate cannot be used by itself.
    ///
    /// Only the first unknown certificate is read for that: each costs as much as all else in the receipt.
    func refusal(_ bytes: Span<UInt8>) -> ReceiptRefusal {
        if let known = signer?.known, known.isCA || !known.maySign { return .badCertificate }
        guard let stranger = members.first(where: { $0.known == nil }) else { return .chain }
        switch stranger.shape.reading(bytes) {
        case .unreadable: return .badCertificate
        case .notRead: return .chain
        case .facts(let facts):
            guard let signer, signer.shape.whole == stranger.shape.whole else { return .chain }
            return facts.isCA || !facts.maySign ? .badCertificate : .chain
        }
    }

    /// Whether a SignerInfo's issuer and serial number are the certificate's.
    private static func isNamed(_ shape: CertificateShape, by id: Range<Int>, _ bytes: Span<UInt8>) -> Bool {
        let (issuer, serial) = (shape.issuer, shape.serial)
        guard id.count == issuer.count + serial.count else { return false }
        return bytes.same(id.prefix(issuer.count), issuer) && bytes.same(id.dropFirst(issuer.count), serial)
    }

    private static func isReceiptSigner(_ member: Member, _ bytes: Span<UInt8>) -> Bool {
        guard let extensions = member.shape.extensions,
            CertificateExtensions.have(ObjectIdentifier.receiptSigning, extensions, bytes),
            case .p256 = member.known?.key ?? member.shape.key(bytes)
        else { return false }
        return true
    }
}
