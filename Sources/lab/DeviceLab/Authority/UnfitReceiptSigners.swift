/// Receipt chains with one fault each, by its name. Their signers are valid at any time that a lab device lives in.
struct UnfitReceiptSigners: Sendable {
    static let otherIssuerName = LabName.receipt("Lab Application Integration CA 6 - G1")

    private let chains: [String: SignerChain]

    subscript(fault: String) -> SignerChain {
        guard let chain = chains[fault] else { preconditionFailure("no chain of a receipt has the fault \(fault)") }
        return chain
    }

    init(factory: AuthorityFactory, receipts: ReceiptAuthorities) {
        let (root, intermediate) = (receipts.root, receipts.intermediate)
        func signer(_ label: String, _ edit: (inout CertificateDraft) -> Void = { _ in }) -> SignerChain {
            receipts.chain(factory.authority(.receiptSigner, "signer \(label)", issuer: intermediate, edit: edit))
        }
        func under(
            _ label: String,
            _ validity: Validity = .long,
            _ edit: (inout CertificateDraft) -> Void = { _ in }
        ) -> SignerChain {
            // The standing intermediate's key and name, so that only its certificate is wrong.
            let (label, standing) = ("signer under \(label)", "receipt intermediate")
            let other = factory.authority(.receiptIntermediate, standing, issuer: root, validity: validity, edit: edit)
            return SignerChain(factory.authority(.receiptSigner, label, issuer: other), other, root)
        }
        let foreignRoot = factory.authority(.receiptRoot, "foreign receipt root")
        let orphan = factory.authority(.receiptIntermediate, "orphan intermediate", issuer: foreignRoot)
        var flipped = signer("flipped")
        flipped.certificates[0] = flipped.certificates[0].flippingLastBit()
        chains = [
            "signer-without-marker": signer("without marker") { $0.remove(OID.receiptSigning) },
            "signer-issuer-name": signer("with other issuer") { $0.issuer = Self.otherIssuerName },
            "signer-signature-flipped": flipped,
            "signer-critical-policies": signer("with policies") {
                $0.remove(OID.certificatePolicies)
                $0.extensions.append(.policies)
            },
            "intermediate-not-ca": under("no authority") {
                $0.replace(OID.basicConstraints, value: DER.sequence())
            },
            "intermediate-of-foreign-root": SignerChain(
                factory.authority(.receiptSigner, "orphan", issuer: orphan),
                orphan,
                root
            ),
            "intermediate-expired": under("expired", .past),
            "intermediate-not-yet-valid": under("future", .future),
            "intermediate-name-constraints": under("constraints") { $0.extensions.append(.nameConstraints) },
            "intermediate-loose-ca": under("loose") {
                $0.replace(OID.basicConstraints, value: DER.sequence(DER.looseTrue))
            },
        ]
    }
}
