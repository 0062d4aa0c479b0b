package import AppAttest

/// A call to make now.
package struct DueCall: Sendable, Equatable {
    /// The driver's; its answer brings it back.
    package let number: UInt
    package let call: DeskCall
    package let environment: Environment
    /// The body, before Base64.
    package let receipt: [UInt8]

    /// The value of the header `Authorization`.
    package var token: [UInt8] { call.grant.text }
}

package enum DriverStep: Sendable, Equatable {
    case call(DueCall)
    /// See ``DeskStep/wait(until:)``.
    case wait(until: EvaluationTime?)
}

/// How a call came back.
package enum CallReply: Sendable, Equatable {
    case answered(ReceiptAnswer)
    /// Nothing within the time limit.
    case timedOut
    /// No connection, TLS, an answer that ends in the middle.
    case failed

    var answer: ReceiptAnswer? { if case .answered(let answer) = self { answer } else { nil } }

    package func outcome(judge: ([UInt8]) -> Result<ReceiptVerdict, RefreshRefusal>) -> CallOutcome {
        switch self {
        case .answered(let answer): CallOutcome(answer, judge: judge)
        case .timedOut: .timedOut
        case .failed: .transport
        }
    }
}
