package import AppAttest

/// One fault of a receipt, by name; all else is right and signed again.
package enum ReceiptFault: String, Sendable, CaseIterable {
    /// No receipt at all: in attestations only.
    case missing
    // The container.
    case empty, garbage, truncated, trailingByte = "trailing-byte", twoObjects = "two-objects"
    case notSignedData = "not-signed-data", contentNotData = "content-not-data", noSigner = "no-signer"
    case twoSigners = "two-signers", payloadNotSet = "payload-not-set", payloadTrailingByte = "payload-trailing-byte"
    case payloadEmpty = "payload-empty", duplicateField = "duplicate-field", creationMissing = "creation-missing"
    case creationNotDate = "creation-not-date", leafMissing = "leaf-missing", appIDMissing = "app-id-missing"
    // Certificates.
    case signerGarbage = "signer-garbage", signerTrailingByte = "signer-trailing-byte"
    case signerWithoutMarker = "signer-without-marker", intermediateGarbage = "intermediate-garbage"
    case foreignRoot = "foreign-root", foreignIntermediate = "foreign-intermediate"
    case signerIssuerName = "signer-issuer-name", signerSignatureFlipped = "signer-signature-flipped"
    case intermediateNotCA = "intermediate-not-ca", intermediateOfForeignRoot = "intermediate-of-foreign-root"
    case signerExpired = "signer-expired", signerNotYetValid = "signer-not-yet-valid"
    case intermediateExpired = "intermediate-expired", intermediateNotYetValid = "intermediate-not-yet-valid"
    case signerCriticalPolicies = "signer-critical-policies"
    case intermediateNameConstraints = "intermediate-name-constraints", intermediateLooseCA = "intermediate-loose-ca"
    // The signature.
    case signatureFlipped = "signature-flipped", signatureEmpty = "signature-empty", rawSignature = "raw-signature"
    case paddedSignature = "padded-signature", byOtherKey = "by-other-key"
    case changedAfterSigning = "changed-after-signing", uncoveredAttributes = "uncovered-attributes"
    case attributesOfOtherType = "attributes-of-other-type"
    // The content.
    case otherType = "other-type", unknownType = "unknown-type"
    case otherAppID = "other-app-id", appIDCase = "app-id-case"
    case otherEnvironment = "other-environment", unknownEnvironment = "unknown-environment"
    case leafOfOtherDevice = "leaf-of-other-device", leafOtherwiseIssued = "leaf-otherwise-issued"
    case otherClientHash = "other-client-hash"
    case fromFuture = "from-future", tooOld = "too-old", expired
}

extension ReceiptFault {
    /// The one reason that a verifier must give.
    package var expected: ReceiptRefusal { row.expected }

    /// Whether a receipt of that type shows the fault. Without an attestation beside it (`isAlone`) no receipt can be
    /// missing, and no leaf but the receipt's own is known.
    package func applies(to type: ReceiptType, isAlone: Bool) -> Bool {
        switch self {
        case .missing, .leafOtherwiseIssued: !isAlone
        case .otherClientHash: type == .attest
        default: true
        }
    }

    var effect: ReceiptEffect { row.effect }

    private var row: ReceiptFaultRow {
        guard let row = Self.rows[self] else { preconditionFailure("every fault has a row in a table") }
        return row
    }

    private static let rows = Dictionary(
        uniqueKeysWithValues: (containerRows + certificateRows + signatureRows + contentRows).map { ($0.fault, $0) }
    )
}

/// A fault, where it does its damage, and the reason for which it must be refused.
struct ReceiptFaultRow: Sendable {
    let fault: ReceiptFault
    let expected: ReceiptRefusal
    let effect: ReceiptEffect

    init(_ fault: ReceiptFault, _ expected: ReceiptRefusal, _ effect: ReceiptEffect) {
        self.fault = fault
        self.expected = expected
        self.effect = effect
    }

    static func draft(
        _ fault: ReceiptFault,
        _ expected: ReceiptRefusal,
        _ edit: @escaping @Sendable (inout ReceiptDraft, ReceiptContext) -> Void
    ) -> Self { Self(fault, expected, .draft(edit)) }

    static func bytes(
        _ fault: ReceiptFault,
        _ edit: @escaping @Sendable (inout [UInt8]) -> Void
    ) -> Self { Self(fault, .malformed, .bytes(edit)) }
}
