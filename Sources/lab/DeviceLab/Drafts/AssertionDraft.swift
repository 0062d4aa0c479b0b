internal import Crypto

/// An assertion before it is signed.
package struct AssertionDraft {
    let device: FakeDevice
    var authData: AuthDataDraft
    var clientDataHash: [UInt8]
    var signingKey: LabKey
    /// Hash the nonce, as ECDSA with SHA-256 over the nonce as a message does.
    var hashesNonce = true

    init(device: FakeDevice, clientDataHash: [UInt8], counter: UInt32) {
        (self.device, self.clientDataHash) = (device, clientDataHash)
        signingKey = device.key
        authData = AuthDataDraft(
            rpIDHash: device.model.rpIDHash,
            flags: device.model.flags,
            counter: counter,
            credential: nil,
            extensions: device.model.extensionMap
        )
    }

    func signingRequest(over authData: [UInt8]) -> LabSigningRequest {
        let nonce = SHA256.hash(authData.span, clientDataHash.span)
        let digest = hashesNonce ? SHA256.hash(nonce) : nonce
        return LabSigningRequest(key: signingKey, digest: digest.bytes)
    }
}

/// An assertion after signing, before it becomes CBOR.
package struct AssertionParts {
    let ecdsa: LabSignature
    var signature: [UInt8]
    var authData: [UInt8]
    var cdHash: CBORPair?

    var entries: [CBORPair] {
        let signed = [
            CBORPair("signature", CBORBytes.bytes(signature)), CBORPair("authenticatorData", CBORBytes.bytes(authData)),
        ]
        return signed + (cdHash.map { [$0] } ?? [])
    }
}
