package import AppAttest
package import Crypto
internal import JSON

/// The fake Apple: both chains (attestations, receipts), every key derived from one secret.
///
/// Keys and certificates are a pure function of the secret. Lab keys are not secret from anybody who has the file of
/// ``exported``, or who can guess a small seed.
package final class LabCA: Sendable {
    /// 32 bytes that everything is derived from.
    package let secret: [UInt8]
    /// Signs leaves, receipts and assertions of this authority's devices.
    package let signer: any LabSigner

    let root: LabAuthority
    let intermediate: LabAuthority
    let receipts: ReceiptAuthorities
    /// Authorities for faults: foreign, expired and otherwise unfit ones.
    let unfit: UnfitAuthorities

    package convenience init(seed: UInt64, signer: any LabSigner = ECDSASigner()) {
        self.init(secret: SHA256.hash(Array("lab authority \(seed)".utf8)), signer: signer)
    }

    package init(secret: Digest, signer: any LabSigner = ECDSASigner()) {
        self.secret = secret.bytes
        self.signer = signer
        let factory = AuthorityFactory(secret: secret.bytes)
        root = factory.authority(.root, "attestation root")
        intermediate = factory.authority(.intermediate, "attestation intermediate", issuer: root)
        receipts = ReceiptAuthorities(factory: factory, prefix: "receipt")
        unfit = UnfitAuthorities(factory: factory, root: root, receipts: receipts)
    }

    /// The same authority with another way of signing: ``OracleSigner`` for fuzzing.
    package func with(signer: any LabSigner) -> LabCA {
        guard let secret = Digest(secret) else { preconditionFailure("a secret has 32 bytes") }
        return LabCA(secret: secret, signer: signer)
    }

    /// The attestation root, DER.
    package var attestationRoot: [UInt8] { root.certificate }
    /// The receipt root, DER.
    package var receiptRoot: [UInt8] { receipts.root.certificate }

    /// The PEM for a configuration's `anchors.attestation`.
    package var attestationAnchorPEM: [UInt8] { PEM.certificate(root.certificate) }
    /// The PEM for a configuration's `anchors.receipt`.
    package var receiptAnchorPEM: [UInt8] { PEM.certificate(receipts.root.certificate) }

    /// All attestation anchors that any fault needs: the root, one that has expired and one that is not valid yet.
    package var attestationAnchorsPEM: [UInt8] {
        attestationAnchorPEM + [unfit.expiredRoot, unfit.futureRoot].flatMap { PEM.certificate($0.root.certificate) }
    }

    /// Anchors under which every shape is accepted and every fault is refused for its own reason.
    package func anchors() throws(AnchorFault) -> TrustAnchors {
        try TrustAnchors(attestationPEM: [attestationAnchorsPEM], receiptPEM: [receiptAnchorPEM])
    }

    /// The file with which a later run signs as the same authority: `{"labAuthority": 1, "secret": base64}` and a line
    /// end.
    package var exported: [UInt8] {
        var writer = JSONWriter(capacity: 96)
        writer.beginObject()
        writer.member("labAuthority", 1)
        writer.member("secret", base64: secret)
        writer.endObject()
        return writer.bytes + [0x0A]
    }

    /// - Throws: ``LabCAFault`` unless `file` is an output of ``exported``.
    package convenience init(exported file: [UInt8]) throws(LabCAFault) {
        guard let document = try? JSONDocument(parsing: file), document.root["labAuthority"]?.integer == 1,
            let text = document.root["secret"]?.stringBytes, let bytes = Base64.decode(text),
            let secret = Digest(bytes)
        else { throw LabCAFault.unreadable }
        self.init(secret: secret)
    }
}

package enum LabCAFault: Error, Equatable, Sendable { case unreadable }

/// PEM (RFC 7468): base64 in lines of 64 characters between two labels.
enum PEM {
    static func certificate(_ der: [UInt8]) -> [UInt8] {
        var text = Array("-----BEGIN CERTIFICATE-----\n".utf8)
        let base64 = Base64.encode(der)
        for start in stride(from: 0, to: base64.count, by: 64) {
            text += base64[start..<min(start + 64, base64.count)] + [0x0A]
        }
        return text + Array("-----END CERTIFICATE-----\n".utf8)
    }
}
