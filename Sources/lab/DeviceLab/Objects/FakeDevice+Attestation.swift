package import AppAttest

extension FakeDevice {
    /// An attestation object as `attestKey` returns it.
    ///
    /// - Parameters:
    ///   - clientDataHash: any bytes; devices sign whatever they are given.
    ///   - at: when Apple issues the leaf and the receipt.
    ///   - fault: the fault; everything else is right and signed again.
    ///   - receiptFault: the fault of the receipt inside.
    package func attest(
        clientDataHash: [UInt8],
        at time: EvaluationTime,
        fault: AttestationFault? = nil,
        receiptFault: ReceiptFault? = nil
    ) -> [UInt8] {
        unfinishedAttestation(clientDataHash: clientDataHash, at: time, fault: fault, receiptFault: receiptFault)
            .finish(by: ca.signer)
    }

    /// The same without its signatures.
    package func unfinishedAttestation(
        clientDataHash: [UInt8],
        at time: EvaluationTime,
        fault: AttestationFault? = nil,
        receiptFault: ReceiptFault? = nil
    ) -> UnfinishedObject {
        var draft = AttestationDraft(device: self, clientDataHash: clientDataHash, time: time)
        fault?.edit(&draft)
        let leaf = draft.leafToSign
        return .awaiting(leaf.signingRequest) { [draft] signature in
            var parts = draft.parts(leaf: leaf.signed(signature))
            guard draft.hasReceipt else { return .finished(Self.attestation(parts, fault)) }
            let (leaf, hash) = (parts.certificates.first ?? [], draft.attestedHash ?? clientDataHash)
            let context = ReceiptContext(device: self, type: .attest, leaf: leaf, clientDataHash: hash, time: time)
            return unfinishedReceipt(context, receiptFault) { receipt in
                parts.receipt = receipt
                return .finished(Self.attestation(parts, fault))
            }
        }
    }

    private static func attestation(_ parts: AttestationParts, _ fault: AttestationFault?) -> [UInt8] {
        var parts = parts
        fault?.edit(&parts)
        var statement = parts.statement
        fault?.edit(statement: &statement)
        var topLevel = parts.topLevel(statement: statement)
        fault?.edit(topLevel: &topLevel)
        var object = CBORBytes.map(topLevel)
        fault?.edit(&object)
        return object
    }

    /// The leaf certificate of an attestation without faults, DER.
    package func leaf(clientDataHash: [UInt8], at time: EvaluationTime) -> [UInt8] {
        let draft = AttestationDraft(device: self, clientDataHash: clientDataHash, time: time)
        return draft.leafToSign.signed(by: ca.signer)
    }
}
