internal import Crypto

/// Distinguished names, in Apple's layouts but without Apple's name.
enum LabName {
    static let root = attestation(LabRoot.attestation)
    static let intermediate = attestation("Lab App Attestation CA 1")
    static let receiptRoot = receipt(LabRoot.receipt)
    static let receiptIntermediate = receipt("Lab Application Integration CA 5 - G1")
    static let receiptSigner = name("Lab Application Attestation Fraud Receipt Signing", place: country)

    /// The subject of a leaf: the key ID in lower-case hexadecimal.
    static func leaf(_ commonName: String) -> [UInt8] { name(commonName, unit: "AAA Certification", place: state) }

    static func attestation(_ commonName: String) -> [UInt8] { name(commonName, place: state) }

    static func receipt(_ commonName: String) -> [UInt8] {
        name(commonName, unit: "Lab Certification Authority", place: country)
    }

    private static let country = part(OID.country, DER.printableString("US"))
    private static let state = part(OID.state, DER.utf8String("California"))

    private static func name(_ commonName: String, unit: String? = nil, place: [UInt8]) -> [UInt8] {
        let unit = unit.map { part(OID.organizationalUnit, DER.utf8String($0)) } ?? []
        let organization = part(OID.organization, DER.utf8String("Lab Inc."))
        return DER.sequence(part(OID.commonName, DER.utf8String(commonName)), unit, organization, place)
    }

    private static func part(_ oid: [UInt8], _ value: [UInt8]) -> [UInt8] { DER.set(DER.sequence(oid, value)) }
}
