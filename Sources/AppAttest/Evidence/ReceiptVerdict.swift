/// A receipt's own verdict, separate from its attestation's. `refusal` nil = accepted. Fields: all that could be read.
package struct ReceiptVerdict: Sendable, Equatable {
    package var refusal: ReceiptRefusal?
    package var type: ReceiptType?
    package var createdAt: EvaluationTime?
    package var notBefore: EvaluationTime?
    package var expiresAt: EvaluationTime?
    package var riskMetric: ExactText?
}
