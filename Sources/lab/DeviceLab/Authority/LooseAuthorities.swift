/// The standing intermediate, real name and key, with extensions that a verifier would have to process and does not, or
/// with a BOOLEAN that is invalid in DER.
struct LooseAuthorities: Sendable {
    let withNameConstraints: LabAuthority
    let withPolicies: LabAuthority
    let withUsage: LabAuthority
    let withLooseCritical: LabAuthority
    let withLooseCA: LabAuthority

    init(factory: AuthorityFactory, root: LabAuthority) {
        func variant(_ edit: (inout CertificateDraft) -> Void) -> LabAuthority {
            factory.authority(.intermediate, "attestation intermediate", issuer: root, edit: edit)
        }
        withNameConstraints = variant { $0.extensions.append(.nameConstraints) }
        withPolicies = variant { $0.extensions.append(.policies) }
        withUsage = variant { $0.extensions.append(.appAttestUsage(isCritical: true)) }
        withLooseCritical = variant { $0.loosenCritical(OID.keyUsage) }
        withLooseCA = variant {
            $0.replace(OID.basicConstraints, value: DER.sequence(DER.looseTrue, DER.integer(0)))
        }
    }
}

extension CertificateExtension {
    /// Critical, and permits every use of App Attest leaves.
    static func appAttestUsage(isCritical: Bool) -> Self {
        CertificateExtension(
            oid: OID.extendedKeyUsage,
            isCritical: isCritical,
            value: DER.sequence(OID.appAttestUsage)
        )
    }

    /// Permits only one directory name, and no leaf of ours is below it.
    static let nameConstraints: Self = {
        let name = DER.element(0xA4, LabName.attestation("Lab Somewhere Else"))
        return CertificateExtension(
            oid: OID.nameConstraints,
            isCritical: true,
            value: DER.sequence(DER.element(0xA0, DER.sequence(name)))
        )
    }()

    static let policies = CertificateExtension(
        oid: OID.certificatePolicies,
        isCritical: true,
        value: DER.sequence(DER.sequence(OID.policy))
    )
}

extension CertificateDraft {
    /// Writes `critical` as BER may: TRUE is any octet but 0.
    mutating func loosenCritical(_ oid: [UInt8]) {
        for index in extensions.indices where extensions[index].oid == oid {
            extensions[index].looseCritical = DER.looseTrue
        }
    }
}

extension DER {
    /// TRUE in BER, in DER nothing.
    static let looseTrue: [UInt8] = [0x01, 0x01, 0x01]
}
