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
