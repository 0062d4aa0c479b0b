internal import AppAttest
internal import Crypto

/// A device's key with what is derived from it.
struct DeviceKey: Sendable {
    let key: LabKey
    let publicKey: P256PublicKey
    let keyID: KeyID

    init(_ key: LabKey) {
        // A P-256 point has two coordinates of 32 bytes.
        guard let x = Digest(Array(key.x963[1..<33])), let y = Digest(Array(key.x963[33..<65])) else {
            preconditionFailure("a device's key is on P-256")
        }
        self.key = key
        publicKey = P256PublicKey(uncheckedX: x, y: y)
        keyID = KeyID(of: publicKey)
    }
}
