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
        let leaf = leaf(clientDataHash: clientDataHash, at: time)
        return unfinishedReceipt(type, leaf: leaf, clientDataHash: clientDataHash, at: time, fault: fault) { receipt in
            .finished(receipt ?? [])
        }.finish(by: ca.signer)
    }

    /// What Apple's server answers with where it counts so many keys on the device.
    package func receipt(metric: Int, clientDataHash: [UInt8], at time: EvaluationTime) -> [UInt8] {
        let leaf = leaf(clientDataHash: clientDataHash, at: time)
        let context = ReceiptContext(
            device: self,
            type: .receipt,
            leaf: leaf,
            clientDataHash: clientDataHash,
            time: time
        )
        var facts = context.facts
        facts.riskMetric = Array(String(metric).utf8)
        return ca.receipt(facts)
    }

    /// - Parameter next: what follows from the receipt; nil where the fault is a missing one.
    func unfinishedReceipt(
        _ type: ReceiptType,
        leaf: [UInt8],
        clientDataHash: [UInt8],
        at time: EvaluationTime,
        fault: ReceiptFault?,
        next: @escaping ([UInt8]?) -> UnfinishedObject
    ) -> UnfinishedObject {
        let context = ReceiptContext(device: self, type: type, leaf: leaf, clientDataHash: clientDataHash, time: time)
        var draft = receiptDraft(context)
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

    func receiptDraft(_ context: ReceiptContext) -> ReceiptDraft<ReceiptContext> {
        var draft = ca.receiptDraft(context, context.facts, by: ca.receipts)
        draft.isDER = model.traits.hasDERReceipt
        return draft
    }
}
