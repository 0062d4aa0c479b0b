internal import AppAttest
internal import Crypto
internal import DeviceLab

/// Hostile assertion objects. What is accepted must say what an honest device said.
struct AssertionTarget {
    private static let clientDataHash = SHA256.hash(Array("client data".utf8)).bytes

    private let verifier: ObjectVerifier
    private let engine = OracleEngine()
    private let devices: [FakeDevice]
    private let honest: [AssertionEvidence]
    let seeds: [[UInt8]]

    init() throws {
        let ca = LabCA(seed: 1, signer: OracleSigner())
        // One key for all shapes, so that every seed is within reach of every other.
        devices = DeviceShape.allCases.map { shape in
            FakeDevice(ca: ca, appID: "ABCDE12345.com.example.app", shape: shape, seed: 1)
        }
        verifier = ObjectVerifier(anchors: try ca.anchors())
        seeds = devices.map { $0.assertion(clientDataHash: Self.clientDataHash, counter: 7) }
        honest = zip(devices, seeds).map { [verifier, engine] in Self.honest(Self.verdict($1, $0, verifier, engine)) }
    }

    func run(_ input: [UInt8]) {
        guard case .success(let evidence) = Self.verdict(input, devices[0], verifier, engine) else { return }
        precondition(honest.contains(evidence), "an assertion nobody made is accepted")
    }

    private static func verdict(
        _ object: [UInt8],
        _ device: FakeDevice,
        _ verifier: ObjectVerifier,
        _ engine: OracleEngine
    ) -> Result<AssertionEvidence, Refusal> {
        verifier.prepareAssertion(
            object,
            clientDataHash: clientDataHash,
            key: device.publicKey,
            expectations: device.expectations
        ).verified(by: engine)
    }

    private static func honest(_ result: Result<AssertionEvidence, Refusal>) -> AssertionEvidence {
        guard case .success(let evidence) = result else { preconditionFailure("an honest assertion is refused") }
        return evidence
    }
}
