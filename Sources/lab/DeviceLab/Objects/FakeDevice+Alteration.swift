package import AppAttest
internal import Crypto

extension FakeDevice {
    /// An attestation with one alteration.
    package func attest(
        clientDataHash: [UInt8],
        at time: EvaluationTime,
        altered alteration: Alteration
    ) -> [UInt8] {
        var draft = AttestationDraft(device: self, clientDataHash: clientDataHash, time: time)
        if case .leafBody(let edit) = alteration { draft.leaf.alter = edit }
        if case .extensionMap(let edit) = alteration { draft.authData.extensions = edit(draft.authData.extensions) }
        var parts = draft.signed()
        if shape.hasReceipt {
            parts.receipt = receipt(
                leaf: parts.certificates.first ?? [],
                clientDataHash: clientDataHash,
                at: time,
                altered: alteration
            )
        }
        if case .chain(let edit) = alteration { parts.certificates = edit(parts.certificates) }
        return CBORBytes.map(parts.topLevel(statement: parts.statement))
    }

    /// An assertion with an altered extension map; nothing else in it could be altered and signed.
    package func assertion(clientDataHash: [UInt8], counter: UInt32, altered alteration: Alteration) -> [UInt8] {
        var draft = AssertionDraft(device: self, clientDataHash: clientDataHash, counter: counter)
        if case .extensionMap(let edit) = alteration { draft.authData.extensions = edit(draft.authData.extensions) }
        return CBORBytes.map(draft.signed().entries)
    }

    private func receipt(
        leaf: [UInt8],
        clientDataHash: [UInt8],
        at time: EvaluationTime,
        altered alteration: Alteration
    ) -> [UInt8] {
        let context = ReceiptContext(
            device: self,
            type: .attest,
            leaf: leaf,
            clientDataHash: clientDataHash,
            time: time
        )
        var draft = receiptDraft(context)
        if case .receiptCertificates(let edit) = alteration { draft.certificates = edit(draft.certificates) }
        var content = draft.content
        if case .receiptPayload(let edit) = alteration { content = edit(content) }
        let signature = draft.signature(over: content, with: ca.signer).der
        let receipt = draft.encoded(content: content, signature: signature)
        if case .receipt(let edit) = alteration { return edit(receipt) }
        return receipt
    }
}
