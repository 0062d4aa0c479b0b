internal import AppAttest
internal import Crypto
internal import DeviceLab

/// Hostile receipts. What is accepted must say what an honest receipt said.
struct ReceiptTarget {
    private static let time = EvaluationTime(milliseconds: 1_790_000_000_000)
    private static let clientDataHash = SHA256.hash(Array("challenge".utf8)).bytes

    private let verifier: ObjectVerifier
    private let engine = OracleEngine()
    private let expectations: ReceiptExpectations
    private let honest: [ReceiptVerdict]
    let seeds: [[UInt8]]

    init() throws {
        let ca = LabCA(seed: 1, signer: OracleSigner())
        let devices = [DeviceShape.ios27_0_1, .receiptInDER].map { shape in
            FakeDevice(ca: ca, appID: "ABCDE12345.com.example.app", shape: shape, seed: 1)
        }
        verifier = ObjectVerifier(anchors: try ca.anchors())
        var expectations = devices[0].receiptExpectations(.attest, clientDataHash: Self.clientDataHash)
        expectations.type = nil
        self.expectations = expectations
        seeds = devices.flatMap { device in
            [ReceiptType.attest, .receipt].map { type in
                device.receipt(type, clientDataHash: Self.clientDataHash, at: Self.time)
            }
        }
        honest = seeds.map { [verifier, engine] seed in
            let result = verifier.prepareReceipt(seed, expectations: expectations, at: Self.time).verified(by: engine)
            guard case .success(let verdict) = result, verdict.refusal == nil else {
                preconditionFailure("an honest receipt is refused")
            }
            return verdict
        }
    }

    func run(_ input: [UInt8]) {
        let result = verifier.prepareReceipt(input, expectations: expectations, at: Self.time).verified(by: engine)
        guard case .success(let verdict) = result, verdict.refusal == nil else { return }
        precondition(honest.contains(verdict), "a receipt nobody made is accepted")
    }
}
