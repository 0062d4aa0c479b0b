package import Crypto

/// Milliseconds since 1970 UTC: below the worker every time has this type and is an argument.
package struct EvaluationTime: Hashable, Comparable, Sendable {
    package let milliseconds: Int64
    package init(milliseconds: Int64) { self.milliseconds = milliseconds }
    package static func < (left: Self, right: Self) -> Bool { left.milliseconds < right.milliseconds }
}

/// The evidence of a valid attestation.
package struct AttestationEvidence: Sendable, Equatable {
    package var environment: Environment
    package var appID: AppID
    package var publicKey: P256PublicKey
    /// SHA-256(authData ‖ clientDataHash): two attestations with the same nonce are the same.
    package var nonce: Digest
    package var validationCategory: UInt32?
    package var bundleVersion: ExactText?
    /// `iphoneos`, `macosx`; from the leaf, undocumented by Apple, so evidence only.
    package var platform: ExactText?
    /// OS version and build, e.g. `27.0.1 (24A446)`.
    package var osVersion: ExactText?
    package var leafNotBefore: EvaluationTime
    package var leafNotAfter: EvaluationTime
    package var issued: IssueTime
    package var receipt: ReceiptVerdict?
    /// There is an extension map and nothing vouches for it: it was treated as missing.
    package var ignoresExtensions = false
}

/// The evidence of a valid assertion. The counter is reported, never judged here.
package struct AssertionEvidence: Sendable, Equatable {
    package var appID: AppID
    package var counter: UInt32
    package var validationCategory: UInt32?
    package var bundleVersion: ExactText?
    /// As in ``AttestationEvidence/ignoresExtensions``.
    package var ignoresExtensions = false
}

package enum ReceiptType: String, Sendable, CaseIterable { case attest = "ATTEST", receipt = "RECEIPT" }

/// A receipt's own verdict, separate from its attestation's. `refusal` nil = accepted. Fields: all that could be read.
package struct ReceiptVerdict: Sendable, Equatable {
    package var refusal: ReceiptRefusal?
    package var type: ReceiptType?
    package var createdAt: EvaluationTime?
    package var notBefore: EvaluationTime?
    package var expiresAt: EvaluationTime?
    package var riskMetric: ExactText?
}
