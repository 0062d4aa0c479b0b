package import AppAttest
package import Crypto

/// The receipts of Apple, or of a lab whose root is among the anchors.
package struct AppleReceipts: ReceiptJudge {
    private let verifier: ObjectVerifier
    private let engine: any SignatureEngine

    package init(_ verifier: ObjectVerifier, engine: any SignatureEngine) {
        (self.verifier, self.engine) = (verifier, engine)
    }

    package func summary(of receipt: [UInt8]) -> ReceiptSummary? {
        guard let content = ReceiptContent(unverified: receipt), let environment = content.environment,
            let dates = ReceiptDates(content), let appID = String(validating: content.appID, as: UTF8.self)
        else { return nil }
        return (appID, environment, dates)
    }

    package func judge(
        _ answer: [UInt8],
        to sent: HeldReceipt,
        at time: EvaluationTime
    ) -> Result<ReceiptVerdict, RefreshRefusal> {
        let judgement = RefreshJudgement(sent: sent.bytes, appID: AppID(sent.appID), environment: sent.environment)
        guard let judgement else { return .failure(.receipt(.malformed)) }
        return judgement.judge(answer, at: time, by: verifier, engine: engine)
    }
}
