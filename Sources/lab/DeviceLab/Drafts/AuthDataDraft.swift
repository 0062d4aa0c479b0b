internal import Crypto

/// Authenticator data before it is written: every field can be made wrong.
struct AuthDataDraft {
    var rpIDHash: [UInt8]
    var flags: UInt8
    var counter: UInt32
    /// Attested credential data; assertions have none.
    var credential: CredentialDraft?
    /// The bytes after the fixed part: none, or the extension map.
    var extensions: [UInt8]
    /// Written instead of all the fields.
    var replacement: [UInt8]?

    var bytes: [UInt8] {
        if let replacement { return replacement }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(rpIDHash.count + extensions.count + 200)
        bytes += rpIDHash
        bytes.append(flags)
        CBORBytes.appendBigEndian(UInt64(counter), 4, to: &bytes)
        if let credential { bytes += credential.bytes }
        bytes += extensions
        return bytes
    }
}

struct CredentialDraft {
    var aaguid: [UInt8]
    var idLength: UInt16
    var id: [UInt8]
    var coseKey: [UInt8]

    init(aaguid: [UInt8], key: LabKey, keyID: [UInt8]) {
        self.aaguid = aaguid
        id = keyID
        idLength = UInt16(keyID.count)
        coseKey = Self.coseKey(key.x963)
    }

    var bytes: [UInt8] { aaguid + CBORBytes.bigEndian(UInt64(idLength), 2) + id + coseKey }

    /// COSE_Key of a P-256 point: kty 2, alg −7, crv 1, x, y; 77 bytes.
    static func coseKey(_ x963: [UInt8]) -> [UInt8] {
        [0xA5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21, 0x58, 0x20] + x963[1..<33]
            + [0x22, 0x58, 0x20] + x963[33..<65]
    }
}
