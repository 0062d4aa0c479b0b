package import AppAttest
internal import Crypto

extension FakeDevice {
    /// A receipt of its own: an `ATTEST` one as an attestation carries it, or a `RECEIPT` one as Apple's server
    /// answers with.
    ///
    /// - Parameters:
    ///   - clientDataHash: that of the attestation.
    ///   - at: when the receipt is made; its leaf is issued at the same time.
    package func receipt(
        _ type: ReceiptType,
        clientDataHash: [UInt8],
        at time: EvaluationTime,
        fault: ReceiptFault? = nil
    ) -> [UInt8] {
        unfinishedReceipt(context(type, clientDataHash, time), fault) { .finished($0 ?? []) }.finish(by: ca.signer)
    }

    /// What Apple's server answers with where it counts so many keys on the device.
    package func receipt(metric: Int, clientDataHash: [UInt8], at time: EvaluationTime) -> [UInt8] {
        var facts = ReceiptFacts(context(.receipt, clientDataHash, time))
        facts.riskMetric = Array(String(metric).utf8)
        return ca.receipt(facts)
    }

    private func context(_ type: ReceiptType, _ clientDataHash: [UInt8], _ time: EvaluationTime) -> ReceiptContext {
        let leaf = leaf(clientDataHash: clientDataHash, at: time)
        return ReceiptContext(device: self, type: type, leaf: leaf, clientDataHash: clientDataHash, time: time)
    }

    /// - Parameter next: what follows from the receipt; nil where the fault is a missing one.
    func unfinishedReceipt(
        _ context: ReceiptContext,
        _ fault: ReceiptFault?,
        next: @escaping ([UInt8]?) -> UnfinishedObject
    ) -> UnfinishedObject {
        var draft = ca.receiptDraft(context, ReceiptFacts(context), by: ca.receipts)
        draft.isDER = model.traits.hasDERReceipt
        fault?.edit(&draft)
        if draft.isAbsent { return next(nil) }
        let content = draft.content
        return .awaiting(draft.signingRequest(over: content)) { [draft] signature in
            var parts = ReceiptParts(ecdsa: signature, signature: signature.der, content: content)
            fault?.edit(&parts)
            var receipt = draft.encoded(content: parts.content, signature: parts.signature)
            fault?.edit(&receipt)
            return next(receipt)
        }
    }

    /// The expectations under which a verifier accepts a receipt of this device.
    package func receiptExpectations(_ type: ReceiptType, clientDataHash: [UInt8]) -> ReceiptExpectations {
        var expectations = ReceiptExpectations(appIDs: [AppID(appID)], environments: [environment])
        expectations.type = type
        expectations.publicKey = publicKey
        expectations.clientDataHash = type == .attest ? clientDataHash : nil
        expectations.maxAgeSeconds = 300
        return expectations
    }
}
