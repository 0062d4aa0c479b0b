package import AppAttest

/// A call to make now: the receipt of a record, with a token.
package struct ReceiptCall: Sendable, Equatable {
    /// The driver's; its answer brings it back.
    package let number: UInt
    package let pair: LinePair
    package let offset: Int64
    package let due: EvaluationTime
    /// Its bytes are the body, before Base64.
    package let receipt: HeldReceipt
    package let account: CallAccount
    package let grant: ProviderTokens.Grant
    /// Whether it finds out if its account's breaker may close.
    let isProbe: Bool
    let assignment: Int

    package var environment: Environment { account.environment }
    /// The value of the header `Authorization`.
    package var token: [UInt8] { grant.text }
}

package enum RefreshStep: Sendable, Equatable {
    case call(ReceiptCall)
    /// Nothing before that time, unless a record, an answer or an acknowledgement comes; nil = only after one of these.
    case wait(until: EvaluationTime?)
}

/// How a call came back.
package enum CallReply: Sendable, Equatable {
    case answered(ReceiptAnswer)
    /// Nothing within the time limit.
    case timedOut
    /// No connection, TLS, an answer that ends in the middle.
    case failed

    package var answer: ReceiptAnswer? { if case .answered(let answer) = self { answer } else { nil } }

    package func outcome(judge: ([UInt8]) -> Result<ReceiptVerdict, RefreshRefusal>) -> CallOutcome {
        switch self {
        case .answered(let answer): CallOutcome(answer, judge: judge)
        case .timedOut: .timedOut
        case .failed: .transport
        }
    }
}
