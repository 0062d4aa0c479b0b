internal import Crypto

/// A receipt's field: `SEQUENCE { type INTEGER, version INTEGER, value OCTET STRING }`.
struct ReceiptField {
    var type: UInt64
    var value: [UInt8]

    var der: [UInt8] { DER.sequence(DER.integer(type), Self.version, DER.octetString(value)) }

    private static let version = DER.integer(1)
}

/// A receipt before it is signed: CMS SignedData (RFC 5652) around a set of fields.
package struct ReceiptDraft<Context> {
    /// What the receipt is made from, for faults.
    let context: Context
    var fields: [ReceiptField]
    /// Tag of the payload: a SET.
    var payloadTag: UInt8 = 0x31
    var payloadSuffix: [UInt8] = []
    var containerType = OID.signedData
    var contentType = OID.data
    var certificates: [[UInt8]]
    /// The signer that the SignerInfo names, whose key signs.
    var signerName: [UInt8]
    var signerSerial: [UInt8]
    var signingKey: LabKey
    /// Signed attributes, by the content type that they name. The signature covers them as RFC 5652 requires, or else the
    /// content: so did that of Apple's receipts of August to October 2020.
    var attributes: (type: [UInt8], areCovered: Bool)?
    var signerInfoCount = 1
    var isDER = false
    /// No receipt is made: in attestations only.
    var isAbsent = false
    /// The last change of the content before it is signed.
    var alter: Alteration.Edit = { $0 }

    var content: [UInt8] { alter(DER.element(payloadTag, joining: fields.map(\.der) + [payloadSuffix])) }

    mutating func set(_ type: UInt64, _ value: [UInt8]) {
        for index in fields.indices where fields[index].type == type { fields[index].value = value }
    }

    mutating func use(_ chain: SignerChain) {
        certificates = chain.certificates
        use(chain.signer)
    }

    mutating func use(_ signer: LabAuthority) {
        (signerSerial, signingKey) = (signer.serial, signer.key)
    }

    func signingRequest(over content: [UInt8]) -> LabSigningRequest {
        let covered = attributes?.areCovered == true ? attributeField(0x31, content) : content
        return LabSigningRequest(key: signingKey, digest: SHA256.hash(covered).bytes)
    }

    /// The container around `content`, in Apple's BER or in DER.
    func encoded(content: [UInt8], signature: [UInt8]) -> [UInt8] {
        let info = signerInfo(content: content, signature: signature)
        let infos = DER.element(0x31, (0..<signerInfoCount).flatMap { _ in info })
        let octets = isDER ? DER.octetString(content) : wrap(0x24, Self.chunks(content))
        let encapsulated = wrap(0x30, contentType + wrap(0xA0, octets))
        let certificates = wrap(0xA0, certificates.flatMap { $0 })
        let body = DER.integer(1) + DER.set(Self.sha256Algorithm) + encapsulated + certificates + infos
        return wrap(0x30, containerType + wrap(0xA0, wrap(0x30, body)))
    }

    /// Definite lengths in DER, indefinite ones in BER.
    private func wrap(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        isDER ? DER.element(tag, content) : [tag, 0x80] + content + [0, 0]
    }

    private static var sha256Algorithm: [UInt8] { DER.sequence(OID.sha256, DER.null) }

    private static func chunks(_ content: [UInt8]) -> [UInt8] {
        stride(from: 0, to: content.count, by: 1000).flatMap {
            DER.octetString(Array(content[$0..<min($0 + 1000, content.count)]))
        }
    }

    private func signerInfo(content: [UInt8], signature: [UInt8]) -> [UInt8] {
        DER.sequence(
            DER.integer(1),
            DER.sequence(signerName, DER.integer(signerSerial)),
            Self.sha256Algorithm,
            attributeField(0xA0, content),
            CertificateHash.sha256.algorithm,
            DER.octetString(signature)
        )
    }

    /// The attributes with the true digest in them; nothing where there are none.
    private func attributeField(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        guard let type = attributes?.type else { return [] }
        let digest = DER.octetString(SHA256.hash(content).bytes)
        let parts = [DER.sequence(OID.contentType, DER.set(type)), DER.sequence(OID.messageDigest, DER.set(digest))]
        return DER.element(tag, joining: parts)
    }
}

/// A receipt after signing, before it becomes a container.
package struct ReceiptParts {
    let ecdsa: LabSignature
    var signature: [UInt8]
    var content: [UInt8]
}
