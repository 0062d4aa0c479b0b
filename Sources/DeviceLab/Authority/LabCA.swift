package import AppAttest
package import Crypto

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
        root = factory.attestationRoot("attestation root")
        intermediate = factory.attestationIntermediate("attestation intermediate", issuer: root)
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
    /// The one constant intermediate, DER.
    package var attestationIntermediate: [UInt8] { intermediate.certificate }
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
}

extension AuthorityFactory {
    func attestationRoot(
        _ label: String,
        name: [UInt8] = LabName.root,
        validity: Validity = .long
    ) -> LabAuthority {
        authority(
            label,
            name: name,
            curve: .p384,
            issuer: nil,
            validity: validity,
            extensions: AuthorityExtensions.root(key(label, .p384))
        )
    }

    func attestationIntermediate(
        _ label: String,
        issuer: LabAuthority,
        validity: Validity = .long,
        edit: (inout CertificateDraft) -> Void = { _ in }
    ) -> LabAuthority {
        authority(
            label,
            name: LabName.intermediate,
            curve: .p384,
            issuer: issuer,
            validity: validity,
            extensions: AuthorityExtensions.intermediate(key(label, .p384), issuer: issuer.key),
            edit: edit
        )
    }
}
