internal import Crypto

/// A fake authority: its key, its name and the certificate that introduces it.
struct LabAuthority: Sendable {
    let key: LabKey
    let name: [UInt8]
    let serial: [UInt8]
    let certificate: [UInt8]
    let validity: Validity

    /// Key identifier as RFC 5280 makes it.
    static func keyIdentifier(_ key: LabKey) -> [UInt8] { LabKey.sha1(key.x963) }
}
