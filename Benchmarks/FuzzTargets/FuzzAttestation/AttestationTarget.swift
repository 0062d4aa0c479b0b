internal import AppAttest
internal import Crypto
internal import DeviceLab

/// Hostile attestation objects. What is accepted must say what one of the honest devices said.
struct AttestationTarget {
    private static let time = EvaluationTime(milliseconds: 1_790_000_000_000)
    private static let clientDataHash = SHA256.hash(Array("challenge".utf8)).bytes

    private let verifier: ObjectVerifier
    private let engine = OracleEngine()
    private let devices: [FakeDevice]
    private let honest: [AttestationEvidence]
    let seeds: [[UInt8]]

    init() throws {
        let ca = LabCA(seed: 1, signer: OracleSigner())
        // One key for all shapes, so that every seed is within reach of every other.
        devices = DeviceShape.allCases.map { shape in
            FakeDevice(ca: ca, appID: "ABCDE12345.com.example.app", shape: shape, seed: 1)
        }
        verifier = ObjectVerifier(anchors: try ca.anchors())
        seeds = devices.map { $0.attest(clientDataHash: Self.clientDataHash, at: Self.time) }
        honest = zip(devices, seeds).map { [verifier, engine] in Self.honest(Self.verdict($1, $0, verifier, engine)) }
    }

    func run(_ input: [UInt8]) {
        guard case .success(let evidence) = Self.verdict(input, devices[0], verifier, engine) else { return }
        // A damaged receipt vouches for the extension map no more: it is treated as missing.
        let right = evidence.ignoresExtensions ? honest.map(Self.withoutExtensions) : honest
        precondition(right.contains(Self.stripped(evidence)), "an attestation that no device made is accepted")
    }

    private static func verdict(
        _ object: [UInt8],
        _ device: FakeDevice,
        _ verifier: ObjectVerifier,
        _ engine: OracleEngine
    ) -> Result<AttestationEvidence, Refusal> {
        verifier.prepareAttestation(
            object,
            clientDataHash: clientDataHash,
            keyID: device.keyID,
            expectations: device.expectations,
            at: time
        ).verified(by: engine)
    }

    private static func honest(_ result: Result<AttestationEvidence, Refusal>) -> AttestationEvidence {
        guard case .success(let evidence) = result else { preconditionFailure("an honest attestation is refused") }
        return stripped(evidence)
    }

    private static func withoutExtensions(_ evidence: AttestationEvidence) -> AttestationEvidence {
        var evidence = evidence
        (evidence.validationCategory, evidence.bundleVersion) = (nil, nil)
        evidence.ignoresExtensions = true
        return evidence
    }

    /// The receipt has a verdict of its own.
    private static func stripped(_ evidence: AttestationEvidence) -> AttestationEvidence {
        var evidence = evidence
        evidence.receipt = nil
        return evidence
    }
}
