internal import Crypto

/// The checks of one lane: holds the caches of verified intermediates and signers (by SHA-256 of their DER, bounded).
/// Not Sendable: each lane makes its own from the shared ``TrustAnchors``. Caches never change a verdict.
package final class ObjectVerifier {
    let limits: ObjectLimits
    /// The App IDs of all apps, for reports.
    package let knownAppIDs: [AppID]
    var intermediates: TrustedIntermediates
    let receipts: ReceiptVerifier

    package init(anchors: TrustAnchors, limits: ObjectLimits = ObjectLimits(), knownAppIDs: [AppID] = []) {
        (self.limits, self.knownAppIDs) = (limits, knownAppIDs)
        intermediates = TrustedIntermediates(roots: anchors.attestation)
        receipts = ReceiptVerifier(roots: anchors.receipt, maxBytes: limits.receiptBytes)
    }

    /// A receipt on its own (no attestation beside it), e.g. a stored or refreshed one.
    ///
    /// - Returns: always concludes with `success`: the verdict's `refusal` says whether the receipt is accepted.
    package func prepareReceipt(
        _ object: [UInt8],
        expectations: ReceiptExpectations,
        at time: EvaluationTime
    ) -> Prepared<ReceiptVerdict> {
        receipts.prepareReceipt(object, expectations: expectations, at: time, NoTrace())
    }
}
