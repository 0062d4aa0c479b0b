internal import Crypto

/// A receipt signer whose chain ends at a configured root. Its dates are judged per receipt.
struct ReceiptSigner: Sendable {
    let key: P256PublicKey
    /// The issuer's Name and the serial number, as a SignerInfo names the signer.
    let id: [UInt8]
    /// Of the signer and its intermediate.
    let validities: [Validity]
    /// Of each configured root that issued the intermediate; one valid root is enough.
    let roots: [Validity]

    func isValid(at time: EvaluationTime) -> Bool {
        validities.allSatisfy { $0.contains(time) } && roots.contains { $0.contains(time) }
    }
}

/// The signers verified so far against the configured roots, by SHA-256 of all certificates that came with them.
///
/// Only what chained is kept, so junk evicts nothing, and an entry holds for exactly the bytes that were verified.
struct ReceiptSigners {
    /// Marks the certificate as a signer of receipts: other services' certificates chain to the same root.
    static let marker = "1.2.840.113635.100.12.15"
    private static let maxCertificateBytes = 4096

    private let roots: [CACertificate]
    private let capacity: Int
    private var known: [Digest: ReceiptSigner] = [:]

    init(roots: [CACertificate], capacity: Int = 64) {
        precondition(capacity > 0, "a cache holds something")
        self.roots = roots
        self.capacity = capacity
    }

    var count: Int { known.count }

    /// The signer that the container names.
    ///
    /// - Throws: `bad-certificate` for what cannot be read or used by itself, `chain` for what no root vouches for.
    mutating func trusted(
        _ container: ReceiptContainer,
        _ bytes: Span<UInt8>
    ) throws(ReceiptRefusal) -> ReceiptSigner {
        guard let first = container.certificates.first, let last = container.certificates.last else { throw .chain }
        // The certificates stand one after the other, so one digest covers them all.
        let digest = SHA256.hash(bytes.extracting(first.lowerBound..<last.upperBound))
        if let signer = known[digest], bytes.holds(signer.id, in: container.signerID) { return signer }
        let signer = try verified(container, bytes)
        if known.count == capacity { known.removeAll(keepingCapacity: true) }
        known[digest] = signer
        return signer
    }

    private func verified(
        _ container: ReceiptContainer,
        _ bytes: Span<UInt8>
    ) throws(ReceiptRefusal) -> ReceiptSigner {
        var certificates: [CACertificate] = []
        for range in container.certificates {
            guard range.count <= Self.maxCertificateBytes, let certificate = CACertificate(der: bytes.array(range)),
                !certificate.hasUnknownCriticalExtension
            else { throw .badCertificate }
            certificates.append(certificate)
        }
        let named = certificates.indices.filter {
            bytes.holds(certificates[$0].issuer + certificates[$0].serial, in: container.signerID)
        }
        guard named.count == 1, let index = named.first else { throw .chain }
        let signer = certificates.remove(at: index)
        guard signer.hasExtension(Self.marker), !signer.isCA, signer.maySign, case .p256(let key) = signer.key else {
            throw .badCertificate
        }
        let (intermediate, issuers) = try chain(of: signer, among: certificates)
        return ReceiptSigner(
            key: key,
            id: signer.issuer + signer.serial,
            validities: [Validity(of: signer), Validity(of: intermediate)],
            roots: issuers.map { Validity(of: $0) }
        )
    }

    /// The one intermediate that issued `signer` and the roots that issued it. Whatever else came along must be such a
    /// root, byte for byte: no certificate may be in a receipt without being vouched for.
    private func chain(
        of signer: CACertificate,
        among certificates: [CACertificate]
    ) throws(ReceiptRefusal) -> (CACertificate, [CACertificate]) {
        let issuers = certificates.filter { $0.subject == signer.issuer }
        guard issuers.count == 1, let intermediate = issuers.first, intermediate.isCA, intermediate.mayCertSign,
            signer.isSigned(by: intermediate)
        else { throw .chain }
        let anchors = roots.filter { $0.der == intermediate.der || Self.has($0, issued: intermediate) }
        guard !anchors.isEmpty else { throw .chain }
        let others = certificates.filter { $0 !== intermediate }
        guard others.allSatisfy({ other in anchors.contains { $0.der == other.der } }) else { throw .chain }
        return (intermediate, anchors)
    }

    /// A root whose path length is 0 may issue leaves only.
    private static func has(_ root: CACertificate, issued certificate: CACertificate) -> Bool {
        root.subject == certificate.issuer && root.pathLength != 0 && certificate.isSigned(by: root)
    }
}
