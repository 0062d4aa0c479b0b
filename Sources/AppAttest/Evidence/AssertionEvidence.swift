/// The evidence of a valid assertion. The counter is reported, never judged here.
package struct AssertionEvidence: Sendable, Equatable {
    package var appID: AppID
    package var counter: UInt32
    package var validationCategory: UInt32?
    package var bundleVersion: ExactText?
    /// The same as ``AttestationEvidence/ignoresExtensions``.
    package var ignoresExtensions = false
}
