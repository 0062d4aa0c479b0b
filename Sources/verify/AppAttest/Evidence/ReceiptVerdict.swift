/// A receipt's own verdict, separate from its attestation's. `refusal` nil = accepted. Fields: all that could be read.
package struct ReceiptVerdict: Sendable, Equatable {
    package var refusal: ReceiptRefusal?
    package var type: ReceiptType?
    package var createdAt: EvaluationTime?
    package var notBefore: EvaluationTime?
    package var expiresAt: EvaluationTime?
    package var riskMetric: ExactText?

    /// The risk metric as a number, 65,535 for more as well; nil unless it has 1 to 9 digits.
    package var metric: UInt16? { riskMetric.flatMap(Self.metric) }

    static func metric(_ text: ExactText) -> UInt16? {
        let digits = text.utf8
        guard (1...9).contains(digits.count) else { return nil }
        return digits.span.decimal(0, digits.count).map { UInt16(clamping: $0) }
    }

    /// Whether all of it is Apple's word about what it was compared with, whatever its age.
    package var isGenuine: Bool { refusal?.concernsAgeOnly ?? true }
}

extension ReceiptVerdict {
    /// An accepted receipt of which nothing is known.
    package static let accepted = ReceiptVerdict()
}

/// Why a receipt was refused, in the order in which its checks are judged; the reason is `receipt:` and this name.
package enum ReceiptRefusal: String, CheckFailure, Hashable, Sendable, CaseIterable {
    /// No receipt in the attestation, where the policy requires one.
    case missing
    case malformed
    /// A signer or intermediate that does not parse or lacks Apple's marker OID.
    case badCertificate = "bad-certificate"
    case chain
    /// The signer or its issuer was not valid at the receipt's creation.
    case expiredOrNotYetValid = "expired-or-not-yet-valid"
    case signature
    case type
    case appID = "app-id-mismatch"
    case environment = "environment-mismatch"
    case keyMismatch = "key-mismatch"
    case clientHash = "client-hash-mismatch"
    case fromFuture = "from-future"
    case tooOld = "too-old"
    case expired

    package var code: String { "receipt:\(rawValue)" }

    /// Whether everything but the receipt's age is right: its content is then Apple's word.
    var concernsAgeOnly: Bool { self == .fromFuture || self == .tooOld || self == .expired }
}

package enum ReceiptType: String, Sendable, CaseIterable { case attest = "ATTEST", receipt = "RECEIPT" }
