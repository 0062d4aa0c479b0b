internal import AppAttest
internal import Crypto

/// An attestation before anything in it is signed.
package struct AttestationDraft {
    enum Nonce {
        /// SHA-256(authData ‖ clientDataHash), as Apple makes it.
        case computed
        /// The whole extension value.
        case value([UInt8])
        case absent
    }

    let device: FakeDevice
    let time: EvaluationTime
    var format = "apple-appattest"
    var authData: AuthDataDraft
    /// The hash that goes into the nonce.
    var clientDataHash: [UInt8]
    var nonce = Nonce.computed
    var leaf: CertificateDraft
    var leafIssuer: LabKey
    /// The certificates after the leaf in x5c.
    var chain: [[UInt8]]
    var hasReceipt: Bool
    /// The hash that the device attested, if it was not ``clientDataHash``: Apple writes it into the receipt.
    var attestedHash: [UInt8]?

    init(device: FakeDevice, clientDataHash: [UInt8], time: EvaluationTime) {
        (self.device, self.time, self.clientDataHash) = (device, time, clientDataHash)
        authData = AuthDataDraft(
            rpIDHash: device.model.rpIDHash,
            flags: device.model.flags,
            counter: 0,
            credential: CredentialDraft(
                aaguid: FakeDevice.aaguid(device.environment),
                key: device.key,
                keyID: device.keyID.bytes
            ),
            extensions: device.model.extensionMap
        )
        leaf = Self.leaf(of: device, time: time)
        leafIssuer = device.ca.intermediate.key
        chain = [device.ca.intermediate.certificate]
        hasReceipt = device.shape.hasReceipt
    }

    /// The leaf with its nonce.
    var leafToSign: UnsignedCertificate {
        var leaf = leaf
        switch nonce {
        case .computed:
            let digest = SHA256.hash(authData.bytes.span, clientDataHash.span).bytes
            leaf.replace(OID.nonce, value: LeafExtensions.nonceValue(digest))
        case .value(let value): leaf.replace(OID.nonce, value: value)
        case .absent: leaf.remove(OID.nonce)
        }
        return leaf.unsigned(by: leafIssuer)
    }

    /// - Parameter leaf: the signed one.
    func parts(leaf: [UInt8]) -> AttestationParts {
        AttestationParts(
            format: format,
            certificates: [leaf] + chain,
            receipt: nil,
            authData: authData.bytes,
            cdHash: device.model.unsignedCDHash
        )
    }

    private static func leaf(of device: FakeDevice, time: EvaluationTime) -> CertificateDraft {
        let day: Int64 = 86_400
        let issued = EvaluationTime(milliseconds: time.milliseconds / 1000 * 1000)
        // Leaves of 2023 to 2025 lived 193 to 353 days, a length that looked random for each device.
        let length = device.model.traits.isLongLived ? 193 * day + Int64(device.seed % 160) * day + 41_913 : 3 * day
        let notBefore = issued - day
        return CertificateDraft(
            serial: CBORBytes.bigEndian(UInt64(max(1, time.milliseconds)), 8),
            hash: .sha256,
            issuer: LabName.intermediate,
            validity: Validity(notBefore: notBefore, notAfter: notBefore + length),
            subject: LabName.leaf(Hexadecimal.encode(device.keyID.bytes)),
            publicKey: CertificateDraft.publicKeyInfo(curve: .p256, point: device.key.x963),
            extensions: device.model.leafExtensions
        )
    }
}

/// An attestation after signing, before it becomes CBOR.
package struct AttestationParts {
    var format: String
    /// Leaf first.
    var certificates: [[UInt8]]
    var receipt: [UInt8]?
    var authData: [UInt8]
    var cdHash: CBORPair?

    var statement: [CBORPair] {
        let x5c = CBORPair("x5c", CBORBytes.array(certificates.map(CBORBytes.bytes)))
        return [x5c] + (receipt.map { [CBORPair("receipt", CBORBytes.bytes($0))] } ?? [])
    }

    func topLevel(statement: [CBORPair]) -> [CBORPair] {
        [CBORPair("fmt", CBORBytes.text(format))] + (cdHash.map { [$0] } ?? []) + [
            CBORPair("attStmt", CBORBytes.map(statement)), CBORPair("authData", CBORBytes.bytes(authData)),
        ]
    }
}
