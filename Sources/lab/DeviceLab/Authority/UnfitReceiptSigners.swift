internal import Crypto

/// Receipt chains with one fault each. Their signers are valid at any time that a lab device lives in.
struct UnfitReceiptSigners: Sendable {
    /// A signer and the certificates that a receipt sends with it, signer first.
    struct Chain: Sendable {
        let signer: LabAuthority
        let certificates: [[UInt8]]
    }

    static let otherIssuerName = LabName.receipt("Lab Application Integration CA 6 - G1")

    let withoutMarker: Chain
    let withOtherIssuerName: Chain
    let withFlippedSignature: Chain
    let underExpiredIntermediate: Chain
    let underFutureIntermediate: Chain
    let underNonAuthority: Chain
    let underIntermediateOfForeignRoot: Chain
    let withCriticalPolicies: Chain
    let underNameConstraints: Chain
    let underLooseCA: Chain

    init(factory: AuthorityFactory, receipts: ReceiptAuthorities) {
        let (root, intermediate) = (receipts.root, receipts.intermediate)
        func signer(_ label: String, _ edit: (inout CertificateDraft) -> Void) -> LabAuthority {
            factory.authority(.receiptSigner, "signer \(label)", issuer: intermediate, edit: edit)
        }
        func chain(_ signer: LabAuthority, _ intermediate: LabAuthority) -> Chain {
            Chain(
                signer: signer,
                certificates: [signer.certificate, intermediate.certificate, root.certificate]
            )
        }
        func under(_ label: String, _ validity: Validity, _ edit: (inout CertificateDraft) -> Void) -> Chain {
            // The standing intermediate's key and name, so that only its certificate is wrong.
            let other = factory.authority(
                .receiptIntermediate,
                "receipt intermediate",
                issuer: root,
                validity: validity,
                edit: edit
            )
            return chain(factory.authority(.receiptSigner, "signer under \(label)", issuer: other), other)
        }
        withoutMarker = chain(signer("without marker") { $0.remove(OID.receiptSigning) }, intermediate)
        withOtherIssuerName = chain(
            signer("with other issuer") { $0.issuer = Self.otherIssuerName },
            intermediate
        )
        withFlippedSignature = chain(signer("flipped") { _ in }.flippingSignature(), intermediate)
        underExpiredIntermediate = under("expired", .past) { _ in }
        underFutureIntermediate = under("future", .future) { _ in }
        underNonAuthority = under("no authority", .long) {
            $0.replace(OID.basicConstraints, value: DER.sequence())
        }
        withCriticalPolicies = chain(
            signer("with policies") {
                $0.remove(OID.certificatePolicies)
                $0.extensions.append(.policies)
            },
            intermediate
        )
        underNameConstraints = under("constraints", .long) { $0.extensions.append(.nameConstraints) }
        underLooseCA = under("loose", .long) {
            $0.replace(OID.basicConstraints, value: DER.sequence(DER.looseTrue))
        }
        let foreignRoot = factory.authority(.receiptRoot, "foreign receipt root")
        let orphan = factory.authority(.receiptIntermediate, "orphan intermediate", issuer: foreignRoot)
        underIntermediateOfForeignRoot = chain(factory.authority(.receiptSigner, "orphan", issuer: orphan), orphan)
    }
}
