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
        _ expectations: Expectations? = nil,
        by engine: any SignatureEngine = OpenSSLEngine()
    ) -> Result<AttestationEvidence, Refusal> {
        prepareAttestation(
            object,
            clientDataHash: Lab.clientDataHash,
            keyID: device.keyID,
            expectations: expectations ?? device.expectations,
            at: Lab.noon
        ).verified(by: engine)
    }

    func assertion(
        _ object: [UInt8],
        of device: FakeDevice,
        _ expectations: Expectations? = nil,
        by engine: any SignatureEngine = OpenSSLEngine()
    ) -> Result<AssertionEvidence, Refusal> {
        prepareAssertion(
            object,
            clientDataHash: Lab.clientDataHash,
            key: device.publicKey,
            expectations: expectations ?? device.expectations
        ).verified(by: engine)
    }

    /// The verdict on a receipt of that device.
    func receipt(
        _ receipt: [UInt8],
        of device: FakeDevice,
        _ type: ReceiptType = .receipt,
        leaf: [UInt8]? = nil,
        at time: EvaluationTime = Lab.noon
    ) throws -> ReceiptVerdict {
        var expectations = device.receiptExpectations(type, clientDataHash: Lab.clientDataHash)
        expectations.leaf = leaf
        return try prepareReceipt(receipt, expectations: expectations, at: time).verified(by: OpenSSLEngine()).get()
    }
}

/// A verdict's reason; nil = accepted.
func reason<Evidence>(_ result: Result<Evidence, Refusal>) -> String? {
    switch result {
    case .success: nil
    case .failure(let refusal): refusal.code
    }
}
