internal import Crypto

/// A root with an intermediate under it.
struct LabChain: Sendable {
    let root: LabAuthority
    let intermediate: LabAuthority
}

/// Authorities with one fault each, made once; everything below them is right.
struct UnfitAuthorities: Sendable {
    /// Same names, other keys: a root that is not an anchor.
    let foreign: LabChain
    let expiredRoot: LabChain
    let futureRoot: LabChain
    let expired: LabAuthority
    let notYetValid: LabAuthority
    let notAuthority: LabAuthority
    let withoutBasicConstraints: LabAuthority
    let withoutCertificateSigning: LabAuthority
    let withOtherIssuerName: LabAuthority
    /// The real intermediate's certificate with a bit of its signature flipped.
    let withFlippedSignature: LabAuthority
    /// Real name and key, unknown critical extension.
    let withCriticalExtension: LabAuthority
    let loose: LooseAuthorities

    let foreignReceipts: ReceiptAuthorities
    let receiptSigners: UnfitReceiptSigners

    init(factory: AuthorityFactory, root: LabAuthority, receipts: ReceiptAuthorities) {
        let foreignRoot = factory.authority(.root, "foreign root")
        foreign = LabChain(
            root: foreignRoot,
            intermediate: factory.authority(.intermediate, "foreign intermediate", issuer: foreignRoot)
        )
        expiredRoot = factory.datedChain("Expired", .past)
        futureRoot = factory.datedChain("Future", .future)
        // These have the standing intermediate's key and name: only their certificate is wrong.
        func variant(_ validity: Validity = .long, _ edit: (inout CertificateDraft) -> Void) -> LabAuthority {
            factory.authority(.intermediate, "attestation intermediate", issuer: root, validity: validity, edit: edit)
        }
        expired = variant(.past) { _ in }
        notYetValid = variant(.future) { _ in }
        notAuthority = variant { $0.replace(OID.basicConstraints, value: DER.sequence()) }
        withoutBasicConstraints = variant { $0.remove(OID.basicConstraints) }
        withoutCertificateSigning = variant { $0.replace(OID.keyUsage, value: [0x03, 0x02, 0x01, 0x02]) }
        withOtherIssuerName = variant { $0.issuer = LabName.attestation("Lab App Attestation Root CB") }
        withFlippedSignature = variant { _ in }.flippingSignature()
        withCriticalExtension = variant {
            $0.extensions.append(CertificateExtension(oid: OID.unknown, isCritical: true, value: DER.null))
        }
        loose = LooseAuthorities(factory: factory, root: root)
        foreignReceipts = ReceiptAuthorities(factory: factory, prefix: "foreign receipt")
        receiptSigners = UnfitReceiptSigners(factory: factory, receipts: receipts)
    }
}

extension AuthorityFactory {
    /// A root of its own name with `validity`, and an intermediate with a long validity.
    fileprivate func datedChain(_ word: String, _ validity: Validity) -> LabChain {
        let name = LabName.attestation("Lab App Attestation \(word) Root CA")
        let root = authority(.root, "\(word) root", name: name, validity: validity)
        return LabChain(root: root, intermediate: authority(.intermediate, "\(word) intermediate", issuer: root))
    }
}

extension CertificateDraft {
    mutating func replace(_ oid: [UInt8], value: [UInt8]) {
        for index in extensions.indices where extensions[index].oid == oid { extensions[index].value = value }
    }

    mutating func remove(_ oid: [UInt8]) { extensions.removeAll { $0.oid == oid } }
}

extension LabAuthority {
    func flippingSignature() -> LabAuthority {
        LabAuthority(
            key: key,
            name: name,
            serial: serial,
            certificate: certificate.flippingLastBit(),
            validity: validity
        )
    }
}

extension [UInt8] {
    /// The last byte of a DER signature is the low end of s: another value, same shape.
    func flippingLastBit() -> [UInt8] {
        var bytes = self
        bytes[bytes.count - 1] ^= 1
        return bytes
    }
}
