internal import AppAttest
internal import Crypto
internal import DeviceLab
internal import Risk

/// Hostile answers to the exchange of a receipt. The refresher and the worker accept what Apple made, and nothing else.
struct ExchangeTarget {
    private static let time = EvaluationTime(milliseconds: 1_790_000_000_000)
    private static let clientDataHash = SHA256.hash(Array("challenge".utf8)).bytes
    private static let metrics = ["0", "1", "20", "65535", "999999999", "1234567890123456", "-1", ""]

    private let verifier: ObjectVerifier
    private let engine = OracleEngine()
    private let keyID: KeyID
    private let judgement: RefreshJudgement
    private let expectations: Expectations
    private let honest: [ReceiptVerdict]
    let seeds: [[UInt8]]

    init() throws {
        let ca = LabCA(seed: 1, signer: OracleSigner())
        let device = FakeDevice(ca: ca, appID: "ABCDE12345.com.example.app", seed: 2)
        let attested = EvaluationTime(milliseconds: Self.time.milliseconds - 7 * 86_400_000)
        let sent = device.receipt(.attest, clientDataHash: Self.clientDataHash, at: attested)
        let appID = AppID(device.appID)
        guard let content = ReceiptContent(unverified: sent),
            let judgement = RefreshJudgement(sent: sent, appID: appID, environment: device.environment)
        else { preconditionFailure("the lab's receipt can be read") }
        (verifier, keyID, self.judgement) = (ObjectVerifier(anchors: try ca.anchors()), device.keyID, judgement)
        expectations = Expectations(appIDs: [appID])
        // The dates of all receipts that were seen, and those of Apple's example.
        let spans = [ReceiptSpans(), ReceiptSpans(notBeforeSeconds: 30 * 86_400, expirySeconds: 60 * 86_400)]
        seeds = Self.metrics.enumerated().map { index, metric in
            var facts = ReceiptFacts(
                refreshing: content,
                environment: device.environment,
                metric: 1,
                at: Self.time,
                spans[index % 2]
            )
            facts.riskMetric = metric.isEmpty ? nil : Array(metric.utf8)
            return ca.receipt(facts)
        }
        honest = seeds.map { [verifier, engine, keyID, expectations] seed in
            let prepared = verifier.prepareExchangedReceipt(
                seed,
                keyID: keyID,
                expectations: expectations,
                at: Self.time
            )
            guard case .success(let evidence) = prepared.verified(by: engine) else {
                preconditionFailure("an honest answer is refused")
            }
            let judged = judgement.judge(seed, at: Self.time, by: verifier, engine: engine)
            let expected: Result<ReceiptVerdict, RefreshRefusal> =
                evidence.receipt.metric == nil ? .failure(.metric) : .success(evidence.receipt)
            precondition(judged == expected, "refresher and worker judge an honest answer alike")
            return evidence.receipt
        }
    }

    func run(_ input: [UInt8]) {
        if case .success(let verdict) = judgement.judge(input, at: Self.time, by: verifier, engine: engine) {
            precondition(honest.contains(verdict), "the refresher accepts a receipt that nobody made")
        }
        let prepared = verifier.prepareExchangedReceipt(
            input,
            keyID: keyID,
            expectations: expectations,
            at: Self.time
        )
        guard case .success(let evidence) = prepared.verified(by: engine) else { return }
        precondition(honest.contains(evidence.receipt), "the worker accepts a receipt that nobody made")
    }
}
