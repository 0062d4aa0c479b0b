internal import Crypto

extension FakeDevice {
    /// An assertion object as `generateAssertion` returns it; the counter rises by one.
    package mutating func assert(clientDataHash: [UInt8], fault: AssertionFault? = nil) -> [UInt8] {
        counter += 1
        return assertion(clientDataHash: clientDataHash, counter: counter, fault: fault)
    }

    /// The assertion that this device writes with that counter.
    package func assertion(clientDataHash: [UInt8], counter: UInt32, fault: AssertionFault? = nil) -> [UInt8] {
        let effect = fault?.effect ?? .none
        var draft = AssertionDraft(device: self, clientDataHash: clientDataHash, counter: counter)
        if case .draft(let edit) = effect { edit(&draft) }
        var parts = draft.signed()
        if case .parts(let edit) = effect { edit(&parts) }
        if case .signature(let edit) = effect { parts.signature = edit(parts.ecdsa) }
        var entries = parts.entries
        if case .topLevel(let edit) = effect { edit(&entries) }
        var object = CBORBytes.map(entries)
        if case .bytes(let edit) = effect { edit(&object) }
        return object
    }
}

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

/// Where a fault does its damage: the earlier, the more is signed again over it.
enum AssertionEffect: Sendable {
    /// The object is right; it is the caller's expectations that refuse it.
    case none
    case draft(@Sendable (inout AssertionDraft) -> Void)
    case parts(@Sendable (inout AssertionParts) -> Void)
    /// Turns the right signature into the bytes that replace it.
    case signature(@Sendable (LabSignature) -> [UInt8])
    case topLevel(@Sendable (inout [CBORPair]) -> Void)
    case bytes(@Sendable (inout [UInt8]) -> Void)
}
