internal import AppAttest
internal import AppCheck
internal import JSON
internal import Settings

/// An event of the events topic, as the reports on rollouts and risks read it.
struct Event {
    enum Kind: String {
        case success = "AppAttestSuccess", failure = "AppAttestFailure", notAdmitted = "AppAttestNotAdmitted"
        /// Apple's new metric of a device's key.
        case risk = "AppAttestRisk"
        case other = ""
    }

    let kind: Kind
    /// A resource name, as the worker wrote it.
    let app: String
    /// 16 hexadecimal digits; nil in events that name none.
    let device: UInt64?
    /// Milliseconds since 1970; nil for an invalid time.
    let at: Int64?
    let root: JSONNode

    /// - Parameter value: a record's of the events topic.
    /// - Returns: nil for a value that is not an event.
    init?(_ value: [UInt8]?) {
        guard let value, let root = try? JSONDocument(parsing: value).root, let name = root["event"]?.string,
            let app = root["app"]?.string
        else { return nil }
        (self.root, self.app, kind) = (root, app, Kind(rawValue: name) ?? .other)
        device = (root["device"]?.string).flatMap { UInt64($0, radix: 16) }
        at = (root["at"]?.string).flatMap { TimeText.milliseconds($0) }
    }

    /// Whether it concerns an attestation: assertions are never gated.
    var isAttestation: Bool { root["method"]?.string == Verb.exchangeAppAttestAttestation.rawValue }
    var reason: String? { root["reason"]?.string }
    /// The share at that time, in parts of ``Rollout/whole``; nil where there was no gate.
    var parts: Int64? { (root["percent"]?.numberText).flatMap { PercentText.parts($0) } }

    /// Platform, OS version and bundle version, where its object said them.
    var traits: [ExactText?] {
        [root["platform"], root["osVersion"], root["bundleVersion"]].map { member in
            (member?.stringBytes).flatMap { ExactText(validating: $0) }
        }
    }
}
