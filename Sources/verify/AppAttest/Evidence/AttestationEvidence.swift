package import Crypto

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
    /// The receipt as Apple signed it, where it is genuine and ``Expectations/keepsReceipts`` asks for it.
    package var receiptBytes: [UInt8]?
    /// There is an extension map and nothing vouches for it: it was treated as missing.
    package var ignoresExtensions = false
}

/// The evidence of a valid assertion. The counter is reported, never judged here.
package struct AssertionEvidence: Sendable, Equatable {
    package var appID: AppID
    package var counter: UInt32
    package var validationCategory: UInt32?
    package var bundleVersion: ExactText?
    /// The same as ``AttestationEvidence/ignoresExtensions``.
    package var ignoresExtensions = false
}

/// App Attest's two environments, which differ in the AAGUID.
package enum Environment: String, Sendable, Hashable, CaseIterable {
    case development, production
}
