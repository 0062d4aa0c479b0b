package import AppAttest
package import AppCheck
package import Crypto

/// The traits of a device and its app, from a request's object: verified evidence where its verification succeeded,
/// else what the object claims of itself.
package struct DeviceTraits: Sendable, Equatable {
    package private(set) var platform: ExactText?
    /// OS version and build, e.g. `27.0.1 (24A446)`.
    package private(set) var osVersion: ExactText?
    package private(set) var validationCategory: UInt32?
    package private(set) var bundleVersion: ExactText?
    /// The environment of an attestation; an assertion does not state it.
    package private(set) var environment: Environment?
    /// SHA-256 of the App ID.
    package private(set) var appIDHash: Digest?
    /// The App ID that the hash stands for, where an attestation that was not accepted names it.
    package private(set) var appID: ExactText?
    package private(set) var counter: UInt32?
    /// The leaf's dates.
    package private(set) var validity: ClosedRange<EvaluationTime>?
    /// Whether Apple's or the key's signature vouches for all of it.
    package private(set) var isVerified = false

    /// - Parameter request: nil where the record is refused for its shape.
    package init(_ finding: Finding, _ request: Request?) {
        switch finding.object {
        case .attestation(.success(let evidence)): add(evidence)
        case .assertion(.success(let evidence)): add(evidence)
        default:
            guard case .object(let object, _)? = request?.body else { return }
            switch object {
            case .attestation(let bytes): add(UnverifiedDevice(attestation: bytes))
            case .assertion(let bytes): add(UnverifiedDevice(assertion: bytes))
            }
        }
    }

    private mutating func add(_ evidence: AttestationEvidence) {
        (platform, osVersion) = (evidence.platform, evidence.osVersion)
        (validationCategory, bundleVersion) = (evidence.validationCategory, evidence.bundleVersion)
        (environment, appIDHash, counter) = (evidence.environment, evidence.appID.rpIDHash, 0)
        if evidence.leafNotBefore <= evidence.leafNotAfter {
            validity = evidence.leafNotBefore...evidence.leafNotAfter
        }
        isVerified = true
    }

    private mutating func add(_ evidence: AssertionEvidence) {
        (validationCategory, bundleVersion) = (evidence.validationCategory, evidence.bundleVersion)
        (appIDHash, counter) = (evidence.appID.rpIDHash, evidence.counter)
        isVerified = true
    }

    private mutating func add(_ device: UnverifiedDevice) {
        (platform, osVersion) = (device.platform, device.osVersion)
        (validationCategory, bundleVersion) = (device.validationCategory, device.bundleVersion)
        (environment, appIDHash, counter) = (device.environment, device.appIDHash, device.counter)
        appID = device.appID
        validity = device.validity
    }
}
