internal import Crypto

extension Prepared<ReceiptVerdict> {
    /// The receipt's own verdict, a refusal included.
    func receiptVerdict(isValid: Bool) -> ReceiptVerdict {
        switch advance(isValid: isValid) {
        case .concluded(.success(let verdict)): verdict
        case .concluded(.failure(.receipt(let refusal))): ReceiptVerdict(refusal: refusal)
        case .concluded(.failure), .open: preconditionFailure("a receipt is refused at once, for a receipt's reasons")
        }
    }

    /// The same, with its signature verified by `engine`.
    func receiptVerdict(by engine: any SignatureEngine) -> ReceiptVerdict {
        receiptVerdict(isValid: check.map { engine.verify([$0]) == [true] } ?? true)
    }
}
