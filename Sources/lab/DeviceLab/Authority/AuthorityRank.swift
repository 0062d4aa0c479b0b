internal import Crypto

/// A place in a chain, and what its authorities share; the extensions are in Apple's order.
struct AuthorityRank: Sendable {
    let name: [UInt8]
    let curve: LabCurve
    var hash = CertificateHash.sha384
    let extensions: @Sendable (_ key: LabKey, _ issuer: LabKey) -> [CertificateExtension]

    static let root = Self(name: LabName.root, curve: .p384) { key, _ in
        [basicConstraints(pathLength: nil), subjectKeyID(key), certificateSigning]
    }

    static let intermediate = Self(name: LabName.intermediate, curve: .p384) { key, issuer in
        [basicConstraints(pathLength: 0), authorityKeyID(issuer), subjectKeyID(key), certificateSigning]
    }

    static let receiptRoot = Self(name: LabName.receiptRoot, curve: .p384) { key, _ in
        [subjectKeyID(key), basicConstraints(pathLength: nil), certificateSigning]
    }

    static let receiptIntermediate = Self(name: LabName.receiptIntermediate, curve: .p256) { key, issuer in
        [
            basicConstraints(pathLength: nil),
            authorityKeyID(issuer),
            informationAccess("http://ocsp.lab.invalid/ocsp03-labrootcag3"),
            subjectKeyID(key),
            certificateSigning,
            CertificateExtension(OID.integrationCA, DER.null),
        ]
    }

    static let receiptSigner = Self(name: LabName.receiptSigner, curve: .p256, hash: .sha256) { key, issuer in
        [
            .critical(OID.basicConstraints, DER.sequence()),
            authorityKeyID(issuer),
            informationAccess("http://ocsp.lab.invalid/ocsp03-labaica5g101"),
            policies,
            subjectKeyID(key),
            .critical(OID.keyUsage, [0x03, 0x02, 0x07, 0x80]),
            CertificateExtension(OID.receiptSigning, DER.null),
        ]
    }

    private static func basicConstraints(pathLength: UInt64?) -> CertificateExtension {
        .critical(OID.basicConstraints, DER.sequence(DER.boolean(true), pathLength.map(DER.integer) ?? []))
    }

    private static let certificateSigning = CertificateExtension.critical(OID.keyUsage, [0x03, 0x02, 0x01, 0x06])

    /// A statement as long as Apple's, so that receipts have their true size.
    private static let policies: CertificateExtension = {
        let text =
            "This certificate belongs to a laboratory of fake devices. It says nothing about any real device, "
            + "application or person, and nobody should rely on it for anything but tests."
        let notice = DER.sequence(DER.sequence(OID.userNotice, DER.sequence(DER.utf8String(text))))
        return CertificateExtension(OID.certificatePolicies, DER.sequence(DER.sequence(OID.policy, notice)))
    }()

    private static func subjectKeyID(_ key: LabKey) -> CertificateExtension {
        CertificateExtension(OID.subjectKeyID, DER.octetString(LabAuthority.keyIdentifier(key)))
    }

    private static func authorityKeyID(_ key: LabKey) -> CertificateExtension {
        CertificateExtension(OID.authorityKeyID, DER.sequence(DER.element(0x80, LabAuthority.keyIdentifier(key))))
    }

    private static func informationAccess(_ address: String) -> CertificateExtension {
        let location = DER.element(0x86, Array(address.utf8))
        return CertificateExtension(OID.authorityInformation, DER.sequence(DER.sequence(OID.ocsp, location)))
    }
}
