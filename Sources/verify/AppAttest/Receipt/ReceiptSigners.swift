internal import Crypto

/// A receipt signer whose chain ends at a configured root. Its dates are judged per receipt.
struct ReceiptSigner: Sendable {
    let key: P256PublicKey
    /// The issuer's Name and the serial number, as a SignerInfo names the signer.
    let id: [UInt8]
    /// The validities of the signer and its intermediate.
    let validities: [Validity]
    /// The validity of each configured root that issued the intermediate; one valid root is enough.
    let roots: [Validity]

    func isValid(at time: EvaluationTime) -> Bool {
        validities.allSatisfy { $0.contains(time) } && roots.contains { $0.contains(time) }
    }
}

/// A signer and its intermediate, and the roots that issued the intermediate, as far as our own arithmetic can tell.
private typealias IssuedPair = (digest: Digest, roots: [CACertificate])

/// Why an issued pair is refused.
private typealias UnfitPair = (refusal: ReceiptRefusal, roots: [CACertificate])

/// The certificates verified so far against the configured roots, each by SHA-256 of its DER.
///
/// Caches single certificates, and only those that chain to a root. A list in another order, or with its root, makes no
/// new entries, so a sender cannot evict any.
struct ReceiptSigners {
    /// Marks the certificate as a signer of receipts: other services' certificates chain to the same root.
    static let marker = "1.2.840.113635.100.12.15"
    private static let maxCertificateBytes = 4096

    private let roots: [CACertificate]
    /// Signers and intermediates of lists that chained: parsing one again costs more than all else.
    private var certificates: VerifiedCache<CACertificate>
    /// Intermediates with the roots that issued them.
    private var anchors: VerifiedCache<[CACertificate]>
    /// The verified pairs by the digests of signer and intermediate, one after the other.
    private var pairs: VerifiedCache<ReceiptSigner>
    /// Pairs that a root did issue and that are refused: nobody else can make one, and OpenSSL reads it once.
    private var unfit: VerifiedCache<UnfitPair>
    /// The signer that was trusted last, by all that names it: comparing the bytes costs a sixth of their digests.
    private var last: (certificates: [[UInt8]], id: [UInt8], signer: ReceiptSigner)?

    init(roots: [CACertificate], capacity: Int = 64) {
        self.roots = roots
        for root in roots { root.prepareRefusals() }
        certificates = VerifiedCache(capacity: capacity)
        anchors = VerifiedCache(capacity: capacity)
        pairs = VerifiedCache(capacity: capacity)
        unfit = VerifiedCache(capacity: capacity)
    }

    var count: Int { pairs.count }
    var unfitCount: Int { unfit.count }

    /// The signer that the container names.
    ///
    /// - Throws: `bad-certificate` if it cannot be read or used by itself, `chain` if no root vouches for it.
    mutating func trusted(
        _ container: ReceiptContainer,
        _ bytes: Span<UInt8>
    ) throws(ReceiptRefusal) -> ReceiptSigner {
        if let last, bytes.holds(last.id, in: container.signerID), Self.lists(last.certificates, container, bytes) {
            return last.signer
        }
        let signer = try lookedUp(container, bytes)
        last = (container.certificates.map { bytes.array($0) }, bytes.array(container.signerID), signer)
        return signer
    }

    /// Whether a container has these certificates, in this order.
    private static func lists(
        _ certificates: [[UInt8]],
        _ container: ReceiptContainer,
        _ bytes: Span<UInt8>
    ) -> Bool {
        guard certificates.count == container.certificates.count else { return false }
        for index in certificates.indices where !bytes.holds(certificates[index], in: container.certificates[index]) {
            return false
        }
        return true
    }

    private mutating func lookedUp(
        _ container: ReceiptContainer,
        _ bytes: Span<UInt8>
    ) throws(ReceiptRefusal) -> ReceiptSigner {
        guard !container.certificates.isEmpty else { throw .chain }
        var issued: IssuedPair?
        var list = try found(container, bytes, &issued)
        let named = list.indices.filter { Self.isNamed(list[$0], by: container.signerID, bytes) }
        guard named.count == 1, let index = named.first else { throw .chain }
        let signer = list.remove(at: index)
        let issuers = list.filter { $0.subject == signer.issuer }
        let pair = issuers.first.map { Self.pair(signer.digest, $0.digest) }
        if issuers.count == 1, let issuer = issuers.first, let pair, let known = pairs.find(pair),
            let anchors = anchors.find(issuer.digest), Self.isVouched(list, beside: issuer, by: anchors)
        {
            return known
        }
        if let refusal = Self.unfitness(of: signer, under: issuers) {
            if let issued, let issuer = issuers.first { remember(issued, refusal, signer, issuer) }
            throw refusal
        }
        guard case .p256(let key) = signer.key, let intermediate = issuers.first, let pair else { throw .chain }
        // The root first: with an intermediate of his own no sender makes the signer's check cost more than his key.
        let issuing = anchors.find(intermediate.digest) ?? roots.filter { $0.hasIssued(intermediate) }
        guard !issuing.isEmpty, Self.isVouched(list, beside: intermediate, by: issuing),
            signer.isSigned(by: intermediate)
        else { throw .chain }
        let trusted = ReceiptSigner(
            key: key,
            id: signer.issuer + signer.serial,
            validities: [Validity(of: signer), Validity(of: intermediate)],
            roots: issuing.map { Validity(of: $0) }
        )
        for certificate in [signer, intermediate] { certificates.insert(certificate.digest, certificate) }
        anchors.insert(intermediate.digest, issuing)
        pairs.insert(pair, trusted)
        return trusted
    }

    /// Why signer and issuer must not sign receipts, even with a valid chain; nil = they may.
    private static func unfitness(of signer: CACertificate, under issuers: [CACertificate]) -> ReceiptRefusal? {
        guard signer.hasExtension(marker), !signer.isCA, signer.maySign, case .p256 = signer.key else {
            return .badCertificate
        }
        guard issuers.count == 1, let issuer = issuers.first, issuer.isCA, issuer.mayCertSign else { return .chain }
        return nil
    }

    /// Remembers an unfit pair, if a root did issue it.
    private mutating func remember(
        _ issued: IssuedPair,
        _ refusal: ReceiptRefusal,
        _ signer: CACertificate,
        _ issuer: CACertificate
    ) {
        guard roots.contains(where: { $0.hasIssued(issuer) }), signer.isSigned(by: issuer) else { return }
        unfit.insert(issued.digest, (refusal, issued.roots))
    }

    /// The certificates, of which OpenSSL reads those that are new. A list that is certainly refused never gets there:
    /// anybody can write one, and no reading may cost more than its refusal.
    private mutating func found(
        _ container: ReceiptContainer,
        _ bytes: Span<UInt8>,
        _ issued: inout IssuedPair?
    ) throws(ReceiptRefusal) -> [CACertificate] {
        var (known, digests): ([CACertificate?], [Digest]) = ([], [])
        for range in container.certificates {
            guard range.count <= Self.maxCertificateBytes else { throw .badCertificate }
            let digest = SHA256.hash(bytes.extracting(range))
            digests.append(digest)
            known.append(certificates.find(digest) ?? roots.first { $0.digest == digest })
        }
        if known.contains(where: { $0 == nil }) {
            issued = try vouched(try UnverifiedSigners(container, known, digests, bytes), bytes)
        }
        var list: [CACertificate] = []
        for (range, found) in zip(container.certificates, known) {
            if let found { list.append(found) } else { list.append(try Self.read(range, bytes)) }
        }
        return list
    }

    private static func read(_ range: Range<Int>, _ bytes: Span<UInt8>) throws(ReceiptRefusal) -> CACertificate {
        guard let certificate = CACertificate(der: bytes.array(range)),
            (try? CertificateExtensions.judge(certificate.der)) != nil
        else { throw .badCertificate }
        return certificate
    }

    /// Signer and intermediate, as far as our own arithmetic can tell a pair that a root issued.
    ///
    /// - Throws: where no root certainly vouches for the list, or the pair is known to be unfit.
    private mutating func vouched(
        _ list: UnverifiedSigners,
        _ bytes: Span<UInt8>
    ) throws(ReceiptRefusal) -> IssuedPair {
        guard let signer = list.signer, let intermediate = list.intermediate else {
            throw list.refusal(list.stranger(roots, issuing: [], bytes), bytes)
        }
        let pair = Self.pair(signer.digest, intermediate.digest)
        if let unfit = unfit.find(pair) {
            let other = list.other(than: unfit.roots, bytes)
            throw other.map { list.refusal($0, bytes) } ?? unfit.refusal
        }
        let issuing =
            intermediate.known.flatMap { anchors.find($0.digest) }
            ?? roots.filter { intermediate.shape.mayBeIssued(by: $0, bytes) }
        if let stranger = list.stranger(roots, issuing: issuing, bytes) { throw list.refusal(stranger, bytes) }
        return (pair, issuing)
    }

    private static func pair(_ signer: Digest, _ intermediate: Digest) -> Digest {
        SHA256.hash(signer.bytes + intermediate.bytes)
    }

    /// Whether a SignerInfo's issuer and serial number are the certificate's.
    private static func isNamed(_ certificate: CACertificate, by id: Range<Int>, _ bytes: Span<UInt8>) -> Bool {
        let (issuer, serial) = (certificate.issuer, certificate.serial)
        guard id.count == issuer.count + serial.count else { return false }
        return bytes.holds(issuer, in: id.prefix(issuer.count)) && bytes.holds(serial, in: id.dropFirst(issuer.count))
    }

    /// Every certificate beside signer and intermediate must be a root that issued the intermediate, byte for byte: no
    /// certificate may be in a receipt without being vouched for.
    private static func isVouched(
        _ list: [CACertificate],
        beside intermediate: CACertificate,
        by anchors: [CACertificate]
    ) -> Bool {
        list.allSatisfy { other in other === intermediate || anchors.contains { $0.der == other.der } }
    }
}
