package import AppAttest
internal import Crypto

/// One mistake of an app or of a server in between, by the name of the reading that finds it. All else is right.
///
/// Mistakes are in no table of ``ObjectFault``, which seeded traffic draws from: another fault there would change the
/// traffic of every seed.
package struct AppMistake: Sendable, CustomStringConvertible {
    enum Effect: Sendable {
        /// Another client data hash.
        case hash(@Sendable (_ hash: [UInt8], _ artifact: [UInt8], _ data: [UInt8]) -> [UInt8])
        /// Other bytes that are hashed in place of the client data.
        case data(@Sendable ([UInt8]) -> [UInt8])
        case objects(AttestationFault?, AssertionFault?)
        case otherKind
        case keyID(@Sendable (FakeDevice) -> [UInt8])
        case appID(@Sendable (String) -> String)
        case environment(Environment)
    }

    package let name: String
    /// The reason for which a verifier refuses the object, by kind; a kind without one cannot have the mistake.
    package let expected: [ObjectReport.Kind: Refusal]
    /// The client data that the request states.
    package let clientData: [UInt8]
    /// Whether an assertion covers an artifact, too.
    package let hasArtifact: Bool
    private let effect: Effect

    init(
        _ name: String,
        _ expected: [ObjectReport.Kind: Refusal],
        clientData: [UInt8] = Self.challenge,
        hasArtifact: Bool = false,
        _ effect: Effect
    ) {
        (self.name, self.expected, self.clientData, self.effect) = (name, expected, clientData, effect)
        self.hasArtifact = hasArtifact
    }

    package var description: String { name }

    /// The kinds of objects that can have the mistake, in a fixed order.
    package var kinds: [ObjectReport.Kind] { [.attestation, .assertion].filter { expected[$0] != nil } }

    /// 32 bytes whose base64 has every character that the alphabets differ in.
    static let challenge: [UInt8] = [0xFB, 0xFF, 0xBF] + (1...29)

    /// A device of the app that should be `appID`.
    package func device(ca: LabCA, appID: String, seed: UInt64 = 7) -> FakeDevice {
        var (appID, environment) = (appID, Environment.production)
        if case .appID(let change) = effect { appID = change(appID) }
        if case .environment(let other) = effect { environment = other }
        return FakeDevice(ca: ca, appID: appID, environment: environment, seed: seed)
    }

    /// The environment that the app accepts.
    package var accepted: Environment {
        if case .environment(.production) = effect { .development } else { .production }
    }

    /// The key ID that the request names.
    package func keyID(of device: FakeDevice) -> KeyID {
        guard case .keyID(let make) = effect, let digest = Digest(make(device)) else { return device.keyID }
        return KeyID(digest)
    }

    /// The object that the request brings.
    package func object(
        _ kind: ObjectReport.Kind,
        of device: FakeDevice,
        artifact: [UInt8],
        at time: EvaluationTime
    ) -> [UInt8] {
        let hash = signedHash(artifact: artifact)
        var isAttestation = kind == .attestation
        if case .otherKind = effect { isAttestation.toggle() }
        var faults: (attestation: AttestationFault?, assertion: AssertionFault?)
        if case .objects(let attestation, let assertion) = effect { faults = (attestation, assertion) }
        return isAttestation
            ? device.attest(clientDataHash: hash, at: time, fault: faults.attestation)
            : device.assertion(clientDataHash: hash, counter: 1, fault: faults.assertion)
    }

    private func signedHash(artifact: [UInt8]) -> [UInt8] {
        let hash = SHA256.hash(artifact + clientData).bytes
        switch effect {
        case .hash(let change): return change(hash, artifact, clientData)
        case .data(let change): return SHA256.hash(artifact + change(clientData)).bytes
        case .objects, .otherKind, .keyID, .appID, .environment: return hash
        }
    }
}
