package import Crypto

/// The traits of a device and its app: verified evidence, or an object's own account.
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

    package init() {}

    package init(_ evidence: AttestationEvidence) {
        (platform, osVersion) = (evidence.platform, evidence.osVersion)
        (validationCategory, bundleVersion) = (evidence.validationCategory, evidence.bundleVersion)
        (environment, appIDHash, counter) = (evidence.environment, evidence.appID.rpIDHash, 0)
        if evidence.leafNotBefore <= evidence.leafNotAfter {
            validity = evidence.leafNotBefore...evidence.leafNotAfter
        }
    }

    package init(_ evidence: AssertionEvidence) {
        (validationCategory, bundleVersion) = (evidence.validationCategory, evidence.bundleVersion)
        (appIDHash, counter) = (evidence.appID.rpIDHash, evidence.counter)
    }

    /// An object's own account, before anything about it is verified: evidence of nothing, for reports and events on
    /// refused requests. A part that cannot be read is nil, and so is everything behind it.
    ///
    /// - Parameter object: a CBOR attestation object, as received.
    package init(attestation object: [UInt8]) {
        let bytes = object.span
        guard let parsed = try? AttestationObject(bytes, limits: .default) else { return }
        let leaf = parsed.certificates.first.flatMap { try? LeafCertificate($0, object.span) }
        appID = PresentedAppID.of(parsed, leaf, bytes)
        if let leaf {
            let device = DeviceInformation(leaf.extensions, bytes)
            (platform, osVersion) = (device.platform, device.osVersion)
            let dates = leaf.validity
            if dates.notBefore <= dates.notAfter { validity = dates.notBefore...dates.notAfter }
        }
        let range = parsed.authenticatorData
        add(AuthenticatorData(range, bytes))
        guard let credential = AttestedCredential(range, bytes) else { return }
        environment = credential.environment
        add(try? ExtensionEntries(range.dropFirst(AttestedCredential.endOffset), bytes))
    }

    /// An assertion's own account.
    ///
    /// - Parameter object: a CBOR assertion object, as received.
    package init(assertion object: [UInt8]) {
        let bytes = object.span
        guard let parsed = try? AssertionObject(bytes, limits: .default) else { return }
        add(AuthenticatorData(parsed.authenticatorData, bytes))
        guard let (_, entries) = AssertionParts.read(parsed, bytes) else { return }
        add(entries)
    }

    private mutating func add(_ data: AuthenticatorData?) {
        guard let data else { return }
        (appIDHash, counter) = (data.rpIDHash, data.counter)
    }

    private mutating func add(_ entries: ExtensionEntries?) {
        guard let entries else { return }
        (validationCategory, bundleVersion) = (entries.validationCategory, entries.bundleVersion)
    }
}
