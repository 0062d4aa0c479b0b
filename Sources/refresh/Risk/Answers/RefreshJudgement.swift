package import AppAttest
package import Crypto

/// Judges the receipt of an answer against the one that was sent, when it arrives. The worker, which trusts nobody,
/// judges it again.
package struct RefreshJudgement: Sendable {
    /// Apple's rule for a receipt that has just been asked for.
    package static let mostAgeSeconds: Int64 = 300

    private let expectations: ReceiptExpectations
    private let sent: ReceiptContent

    /// - Parameters:
    ///   - sent: the receipt of the call, genuine since the worker has verified it.
    ///   - appID: that of the receipt.
    /// - Returns: nil where the receipt cannot be read: it should not be sent.
    package init?(sent: [UInt8], appID: AppID, environment: Environment) {
        guard let receipt = ReceiptContent(unverified: sent) else { return nil }
        self.sent = receipt
        var expectations = ReceiptExpectations(appIDs: [appID], environments: [environment])
        expectations.type = .receipt
        expectations.leaf = receipt.leaf
        expectations.maxAgeSeconds = Self.mostAgeSeconds
        self.expectations = expectations
    }

    /// - Parameter time: when the answer arrived.
    package func judge(
        _ answer: [UInt8],
        at time: EvaluationTime,
        by verifier: ObjectVerifier,
        engine: any SignatureEngine
    ) -> Result<ReceiptVerdict, RefreshRefusal> {
        let prepared = verifier.prepareReceipt(answer, expectations: expectations, at: time)
        guard case .success(let verdict) = prepared.verified(by: engine) else {
            preconditionFailure("a receipt's verdict has its refusal inside")
        }
        if let refusal = verdict.refusal { return .failure(.receipt(refusal)) }
        guard let received = ReceiptContent(unverified: answer) else { return .failure(.receipt(.malformed)) }
        guard received.token == sent.token else { return .failure(.otherToken) }
        guard received.createdAt > sent.createdAt else { return .failure(.notLater) }
        guard verdict.metric != nil else { return .failure(.metric) }
        return .success(verdict)
    }
}

/// Why the receipt of an answer is not the successor of the one that was sent.
package enum RefreshRefusal: Error, Equatable, Sendable {
    /// Not genuine, of another app, environment or leaf, or not new.
    case receipt(ReceiptRefusal)
    /// Field 5 is not that of the receipt that was sent.
    case otherToken
    /// Created at the same time as the one that was sent, or before.
    case notLater
    /// Genuine, without what it was asked for: the worker would refuse it with the same code.
    case metric

    package var code: String {
        switch self {
        case .receipt(let refusal): refusal.code
        case .otherToken: "receipt:token-mismatch"
        case .notLater: "receipt:not-later"
        case .metric: "receipt:metric"
        }
    }
}
