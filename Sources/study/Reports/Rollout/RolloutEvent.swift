internal import AppAttest
internal import AppCheck
internal import JSON
internal import Settings

/// An event of the events topic, with the fields that judge a rollout.
struct RolloutEvent: Equatable {
    enum Kind: String {
        case success = "AppAttestSuccess", failure = "AppAttestFailure", notAdmitted = "AppAttestNotAdmitted"
    }

    var kind: Kind
    /// A resource name, as the worker wrote it.
    var app: String
    /// Whether it concerns an attestation: assertions are never gated.
    var isAttestation: Bool
    /// A failure's reason.
    var reason: String?
    /// 16 hexadecimal digits; nil in events that name none.
    var device: UInt64?
    var platform: ExactText?
    var osVersion: ExactText?
    var bundleVersion: ExactText?
    /// Milliseconds since 1970; nil for an invalid time.
    var at: Int64?
    /// The share at that time, in parts of ``Rollout/whole``; nil where there was no gate.
    var parts: Int64?

    /// - Returns: nil for a value that is not an event of these kinds.
    init?(_ value: [UInt8]?) {
        guard let value, let root = try? JSONDocument(parsing: value).root,
            let kind = (root["event"]?.string).flatMap({ Kind(rawValue: $0) }), let app = root["app"]?.string
        else { return nil }
        self.kind = kind
        self.app = app
        isAttestation = root["method"]?.string == Verb.exchangeAppAttestAttestation.rawValue
        reason = root["reason"]?.string
        device = (root["device"]?.string).flatMap { UInt64($0, radix: 16) }
        platform = root["platform"]?.stringBytes.flatMap { ExactText(validating: $0) }
        osVersion = root["osVersion"]?.stringBytes.flatMap { ExactText(validating: $0) }
        bundleVersion = root["bundleVersion"]?.stringBytes.flatMap { ExactText(validating: $0) }
        at = (root["at"]?.string).flatMap { EventTime.milliseconds($0) ?? TimeText.milliseconds($0) }
        parts = (root["percent"]?.numberText).flatMap { PercentText.parts($0) }
    }
}
