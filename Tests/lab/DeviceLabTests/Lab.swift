internal import AppAttest
internal import Crypto
internal import DeviceLab

/// What the tests of this folder share: one authority, one time, one verifier for each use.
enum Lab {
    static let ca = LabCA(seed: 1)
    static let oracleCA = ca.with(signer: OracleSigner())
    static let appID = "ABCDE12345.com.example.app"
    /// 2026-10-12 12:00:00.250 UTC: fraction digits end in zero.
    static let noon = EvaluationTime(milliseconds: 1_791_806_400_250)
    static let clientDataHash = SHA256.hash(Array("challenge".utf8)).bytes

    static func device(
        _ shape: DeviceShape,
        environment: Environment = .production,
        ca: LabCA = ca,
        seed: UInt64 = 7
    ) -> FakeDevice {
        FakeDevice(ca: ca, appID: appID, environment: environment, shape: shape, seed: seed)
    }

    static func verifier(_ ca: LabCA = ca) throws -> ObjectVerifier { ObjectVerifier(anchors: try ca.anchors()) }
}

extension ObjectVerifier {
    /// The verdict on a device's attestation at noon.
    ///
    /// - Parameter expectations: nil = those that accept the device.
    func attestation(
        _ object: [UInt8],
        of device: FakeDevice,
        hash: [UInt8] = Lab.clientDataHash,
        _ expectations: Expectations? = nil,
        by engine: any SignatureEngine = OpenSSLEngine()
    ) -> Result<AttestationEvidence, Refusal> {
        prepareAttestation(
            object,
            clientDataHash: hash,
            keyID: device.keyID,
            expectations: expectations ?? device.expectations,
            at: Lab.noon
        ).verified(by: engine)
    }

    func assertion(
        _ object: [UInt8],
        of device: FakeDevice,
        hash: [UInt8] = Lab.clientDataHash,
        _ expectations: Expectations? = nil,
        by engine: any SignatureEngine = OpenSSLEngine()
    ) -> Result<AssertionEvidence, Refusal> {
        prepareAssertion(
            object,
            clientDataHash: hash,
            key: device.publicKey,
            expectations: expectations ?? device.expectations
        ).verified(by: engine)
    }
}

/// A verdict's reason; nil = accepted.
func reason<Evidence>(_ result: Result<Evidence, Refusal>) -> String? {
    switch result {
    case .success: nil
    case .failure(let refusal): refusal.code
    }
}
