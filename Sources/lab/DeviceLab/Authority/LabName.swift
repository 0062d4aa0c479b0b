internal import Crypto

/// Distinguished names, in Apple's layouts but without Apple's name.
enum LabName {
    static let root = attestation(LabRoot.attestation)
    static let intermediate = attestation("Lab App Attestation CA 1")
    static let receiptRoot = receipt(LabRoot.receipt)
    static let receiptIntermediate = receipt("Lab Application Integration CA 5 - G1")
    static let receiptSigner = DER.sequence(
        part(OID.commonName, DER.utf8String("Lab Application Attestation Fraud Receipt Signing")),
        part(OID.organization, DER.utf8String(organization)),
        part(OID.country, DER.printableString("US"))
    )

    /// The subject of a leaf: the key ID in lower-case hexadecimal.
    static func leaf(_ commonName: String) -> [UInt8] {
        DER.sequence(
            part(OID.commonName, DER.utf8String(commonName)),
            part(OID.organizationalUnit, DER.utf8String("AAA Certification")),
            part(OID.organization, DER.utf8String(organization)),
            part(OID.state, DER.utf8String("California"))
        )
    }

    static func attestation(_ commonName: String) -> [UInt8] {
        DER.sequence(
            part(OID.commonName, DER.utf8String(commonName)),
            part(OID.organization, DER.utf8String(organization)),
            part(OID.state, DER.utf8String("California"))
        )
    }

    static func receipt(_ commonName: String) -> [UInt8] {
        DER.sequence(
            part(OID.commonName, DER.utf8String(commonName)),
            part(OID.organizationalUnit, DER.utf8String("Lab Certification Authority")),
            part(OID.organization, DER.utf8String(organization)),
            part(OID.country, DER.printableString("US"))
        )
    }

    private static let organization = "Lab Inc."

    private static func part(_ oid: [UInt8], _ value: [UInt8]) -> [UInt8] { DER.set(DER.sequence(oid, value)) }
}
