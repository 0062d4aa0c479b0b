package import Crypto

/// A verification whose signatures are still open. `checks` may be empty: then the verdict is already known.
package struct Prepared<Evidence: Sendable>: Sendable {
    package let checks: [SignatureCheck]
    private let conclusion: @Sendable ([Bool]) -> Result<Evidence, Refusal>

    package init(checks: [SignatureCheck], conclusion: @escaping @Sendable ([Bool]) -> Result<Evidence, Refusal>) {
        self.checks = checks
        self.conclusion = conclusion
    }

    package init(refused refusal: Refusal) {
        self.init(checks: []) { _ in .failure(refusal) }
    }

    /// The verdict, given one answer per check in order.
    package func conclude(_ answers: [Bool]) -> Result<Evidence, Refusal> {
        precondition(answers.count == checks.count, "one answer per check")
        return conclusion(answers)
    }

    /// Verifies the open signatures with `engine` and concludes: the whole verification in one call.
    package func verified(by engine: any SignatureEngine) -> Result<Evidence, Refusal> {
        conclude(checks.isEmpty ? [] : engine.verify(checks))
    }
}

extension Prepared<ReceiptVerdict> {
    /// The receipt's own verdict, a refusal included.
    func receiptVerdict(_ answers: [Bool]) -> ReceiptVerdict {
        switch conclude(answers) {
        case .success(let verdict): verdict
        case .failure(.receipt(let refusal)): ReceiptVerdict(refusal: refusal)
        case .failure: preconditionFailure("a receipt is refused for a receipt's reasons")
        }
    }
}
