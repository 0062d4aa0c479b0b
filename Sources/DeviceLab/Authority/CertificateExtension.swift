/// An X.509 extension.
struct CertificateExtension {
    var oid: [UInt8]
    var isCritical = false
    /// The content of the OCTET STRING.
    var value: [UInt8]
    /// Written instead of a critical extension's TRUE.
    var looseCritical: [UInt8]?

    var der: [UInt8] {
        DER.sequence(oid, isCritical ? looseCritical ?? DER.boolean(true) : [], DER.octetString(value))
    }
}
