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

    func signed() -> AssertionParts {
        let unsigned = unsigned()
        let request = unsigned.signingRequest
        return unsigned.signed(device.ca.signer.sign(request.digest, with: request.key))
    }

    func unsigned() -> UnsignedAssertion {
        let bytes = authData.bytes
        let nonce = SHA256.hash(bytes.span, clientDataHash.span)
        let digest = hashesNonce ? SHA256.hash(nonce) : nonce
        return UnsignedAssertion(
            signingRequest: LabSigningRequest(key: signingKey, digest: digest.bytes),
            authData: bytes,
            cdHash: device.model.unsignedCDHash
        )
    }
}

/// An assertion that lacks nothing but its signature.
struct UnsignedAssertion {
    let signingRequest: LabSigningRequest
    fileprivate let authData: [UInt8]
    fileprivate let cdHash: CBORPair?

    fileprivate init(signingRequest: LabSigningRequest, authData: [UInt8], cdHash: CBORPair?) {
        (self.signingRequest, self.authData, self.cdHash) = (signingRequest, authData, cdHash)
    }

    func signed(_ signature: LabSignature) -> AssertionParts {
        AssertionParts(ecdsa: signature, signature: signature.der, authData: authData, cdHash: cdHash)
    }
}

/// An assertion after signing, before it becomes CBOR.
package struct AssertionParts {
    let ecdsa: LabSignature
    var signature: [UInt8]
    var authData: [UInt8]
    var cdHash: CBORPair?

    private static let signatureKey = CBORBytes.text("signature")
    private static let authDataKey = CBORBytes.text("authenticatorData")

    var entries: [CBORPair] {
        var entries = [
            CBORPair(encodedKey: Self.signatureKey, CBORBytes.bytes(signature)),
            CBORPair(encodedKey: Self.authDataKey, CBORBytes.bytes(authData)),
        ]
        if let cdHash { entries.append(cdHash) }
        return entries
    }
}
