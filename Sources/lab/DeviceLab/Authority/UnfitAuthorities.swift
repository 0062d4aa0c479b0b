/// Authorities with one fault each, made once; everything below them is right.
struct UnfitAuthorities: Sendable {
    /// Same names, other keys: a root that is not an anchor.
    let foreign: LabChain
    let expiredRoot: LabChain
    let futureRoot: LabChain
    /// Certificates of the standing intermediate, real name and key, by their fault.
    private let intermediates: [String: [UInt8]]
    let foreignReceipts: ReceiptAuthorities
    let receiptSigners: UnfitReceiptSigners

    init(factory: AuthorityFactory, root: LabAuthority, receipts: ReceiptAuthorities) {
        func dated(_ word: String, _ validity: Validity) -> LabChain {
            factory.chain(word, name: LabName.attestation("Lab App Attestation \(word) Root CA"), validity: validity)
        }
        func variant(
            _ validity: Validity = .long,
            _ edit: (inout CertificateDraft) -> Void = { _ in }
        ) -> [UInt8] {
            let standing = "attestation intermediate"
            return factory.authority(.intermediate, standing, issuer: root, validity: validity, edit: edit).certificate
        }
        func extended(_ other: CertificateExtension) -> [UInt8] { variant { $0.extensions.append(other) } }
        foreign = factory.chain("foreign")
        expiredRoot = dated("Expired", .past)
        futureRoot = dated("Future", .future)
        intermediates = [
            "critical-extension": extended(.critical(OID.unknown, DER.null)),
            // Extensions that a verifier would have to process and does not, and BOOLEANs that are invalid in DER.
            "name-constraints": extended(.nameConstraints), "policies": extended(.policies),
            "usage": extended(.appAttestUsage), "loose-critical": variant { $0.loosenCritical(OID.keyUsage) },
            "loose-ca": variant {
                $0.replace(OID.basicConstraints, value: DER.sequence(DER.looseTrue, DER.integer(0)))
            },
            "not-ca": variant { $0.replace(OID.basicConstraints, value: DER.sequence()) },
            "no-constraints": variant { $0.remove(OID.basicConstraints) },
            "no-cert-sign": variant { $0.replace(OID.keyUsage, value: [0x03, 0x02, 0x01, 0x02]) },
            "issuer-name": variant { $0.issuer = LabName.attestation("Lab App Attestation Root CB") },
            "signature-flipped": variant().flippingLastBit(),
            "expired": variant(.past), "not-yet-valid": variant(.future),
        ]
        foreignReceipts = ReceiptAuthorities(factory: factory, prefix: "foreign receipt")
        receiptSigners = UnfitReceiptSigners(factory: factory, receipts: receipts)
    }

    /// The standing intermediate's certificate with one fault.
    func intermediate(_ fault: String) -> [UInt8] {
        guard let found = intermediates[fault] else { preconditionFailure("no intermediate has the fault \(fault)") }
        return found
    }
}

extension CertificateExtension {
    /// Permits every use of App Attest leaves.
    static let appAttestUsage = critical(OID.extendedKeyUsage, DER.sequence(OID.appAttestUsage))

    /// Permits only one directory name, and no leaf of ours is below it.
    static let nameConstraints: Self = {
        let name = DER.element(0xA4, LabName.attestation("Lab Somewhere Else"))
        return critical(OID.nameConstraints, DER.sequence(DER.element(0xA0, DER.sequence(name))))
    }()

    static let policies = critical(OID.certificatePolicies, DER.sequence(DER.sequence(OID.policy)))
}

extension DER {
    /// TRUE in BER, in DER nothing.
    static let looseTrue: [UInt8] = [0x01, 0x01, 0x01]
}

extension CertificateDraft {
    mutating func replace(_ oid: [UInt8], value: [UInt8]) {
        for index in extensions.indices where extensions[index].oid == oid { extensions[index].value = value }
    }

    mutating func remove(_ oid: [UInt8]) { extensions.removeAll { $0.oid == oid } }

    /// Writes `critical` as BER may: TRUE is any octet but 0.
    mutating func loosenCritical(_ oid: [UInt8]) {
        for index in extensions.indices where extensions[index].oid == oid {
            extensions[index].looseCritical = DER.looseTrue
        }
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
