internal import Crypto

/// An assertion before it is signed.
struct AssertionDraft {
    let device: FakeDevice
    var authData: AuthDataDraft
    var clientDataHash: [UInt8]
    var signingKey: LabKey
    /// Hash the nonce, as ECDSA with SHA-256 over the nonce as a message does.
    var hashesNonce = true

    init(device: FakeDevice, clientDataHash: [UInt8], counter: UInt32) {
        self.device = device
        self.clientDataHash = clientDataHash
        signingKey = device.key
        authData = AuthDataDraft(
            rpIDHash: device.model.rpIDHash,
            flags: device.model.flags,
            counter: counter,
            credential: nil,
            extensions: device.model.extensionMap
        )
    }

    func signed() -> AssertionParts {
        let bytes = authData.bytes
        let nonce = SHA256.hash(bytes + clientDataHash).bytes
        let digest = hashesNonce ? SHA256.hash(nonce).bytes : nonce
        let signature = device.ca.signer.sign(digest, with: signingKey)
        return AssertionParts(
            ecdsa: signature,
            signature: signature.der,
            authData: bytes,
            cdHash: device.model.unsignedCDHash
        )
    }
}

/// An assertion after signing, before it becomes CBOR.
struct AssertionParts {
    let ecdsa: LabSignature
    var signature: [UInt8]
    var authData: [UInt8]
    var cdHash: CBORPair?

    var entries: [CBORPair] {
        [
            CBORPair("signature", CBORBytes.bytes(signature)),
            CBORPair("authenticatorData", CBORBytes.bytes(authData)),
        ] + (cdHash.map { [$0] } ?? [])
    }
}
