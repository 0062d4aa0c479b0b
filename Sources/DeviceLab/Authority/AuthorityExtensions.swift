internal import Crypto

/// The extensions of authorities and of receipt signers, in Apple's order.
enum AuthorityExtensions {
    static func root(_ key: LabKey) -> [CertificateExtension] {
        [basicConstraints(pathLength: nil), subjectKeyID(key), certificateSigning]
    }

    static func intermediate(_ key: LabKey, issuer: LabKey) -> [CertificateExtension] {
        [basicConstraints(pathLength: 0), authorityKeyID(issuer), subjectKeyID(key), certificateSigning]
    }

    static func receiptRoot(_ key: LabKey) -> [CertificateExtension] {
        [subjectKeyID(key), basicConstraints(pathLength: nil), certificateSigning]
    }

    static func receiptIntermediate(_ key: LabKey, issuer: LabKey) -> [CertificateExtension] {
        [
            basicConstraints(pathLength: nil),
            authorityKeyID(issuer),
            informationAccess("http://ocsp.lab.invalid/ocsp03-labrootcag3"),
            subjectKeyID(key),
            certificateSigning,
            CertificateExtension(oid: OID.integrationCA, value: DER.null),
        ]
    }

    static func receiptSigner(_ key: LabKey, issuer: LabKey) -> [CertificateExtension] {
        [
            CertificateExtension(oid: OID.basicConstraints, isCritical: true, value: DER.sequence()),
            authorityKeyID(issuer),
            informationAccess("http://ocsp.lab.invalid/ocsp03-labaica5g101"),
            policies,
            subjectKeyID(key),
            CertificateExtension(oid: OID.keyUsage, isCritical: true, value: [0x03, 0x02, 0x07, 0x80]),
            CertificateExtension(oid: OID.receiptSigning, value: DER.null),
        ]
    }

    static func basicConstraints(pathLength: UInt64?) -> CertificateExtension {
        let limit = pathLength.map(DER.integer) ?? []
        return CertificateExtension(
            oid: OID.basicConstraints,
            isCritical: true,
            value: DER.sequence(DER.boolean(true), limit)
        )
    }

    private static let certificateSigning = CertificateExtension(
        oid: OID.keyUsage,
        isCritical: true,
        value: [0x03, 0x02, 0x01, 0x06]
    )

    /// A statement as long as Apple's, so that receipts have their true size.
    private static let policies: CertificateExtension = {
        let text =
            "This certificate belongs to a laboratory of fake devices. It says nothing about any real device, "
            + "application or person, and nobody should rely on it for anything but tests."
        let notice = DER.sequence(OID.userNotice, DER.sequence(DER.utf8String(text)))
        return CertificateExtension(
            oid: OID.certificatePolicies,
            value: DER.sequence(DER.sequence(OID.policy, DER.sequence(notice)))
        )
    }()

    private static func subjectKeyID(_ key: LabKey) -> CertificateExtension {
        CertificateExtension(oid: OID.subjectKeyID, value: DER.octetString(LabAuthority.keyIdentifier(key)))
    }

    private static func authorityKeyID(_ key: LabKey) -> CertificateExtension {
        let identifier = DER.element(0x80, LabAuthority.keyIdentifier(key))
        return CertificateExtension(oid: OID.authorityKeyID, value: DER.sequence(identifier))
    }

    private static func informationAccess(_ address: String) -> CertificateExtension {
        let location = DER.element(0x86, Array(address.utf8))
        return CertificateExtension(
            oid: OID.authorityInformation,
            value: DER.sequence(DER.sequence(OID.ocsp, location))
        )
    }
}
