package import AppAttest

extension FakeDevice {
    package func attest(clientDataHash: [UInt8], at time: EvaluationTime, altered alteration: Alteration) -> [UInt8] {
        let (fault, receiptFault) = alteration.faults
        return attest(clientDataHash: clientDataHash, at: time, fault: fault, receiptFault: receiptFault)
    }

    /// An assertion with an altered extension map; nothing else in it could be altered and signed.
    package func assertion(clientDataHash: [UInt8], counter: UInt32, altered alteration: Alteration) -> [UInt8] {
        var fault: AssertionFault?
        if case .extensionMap(let edit) = alteration {
            fault = .draft("altered", .malformedAssertion) { $0.authData.extensions = edit($0.authData.extensions) }
        }
        return assertion(clientDataHash: clientDataHash, counter: counter, fault: fault)
    }
}

extension Alteration {
    /// The alteration as a fault; no reason for it is expected.
    fileprivate var faults: (attestation: AttestationFault?, receipt: ReceiptFault?) {
        let (name, attestation, receipt) = ("altered", Refusal.malformedAttestation, ReceiptRefusal.malformed)
        switch self {
        case .leafBody(let edit): return (.draft(name, attestation) { $0.leaf.alter = edit }, nil)
        case .extensionMap(let edit):
            return (.draft(name, attestation) { $0.authData.extensions = edit($0.authData.extensions) }, nil)
        case .chain(let edit): return (.parts(name, attestation) { $0.certificates = edit($0.certificates) }, nil)
        case .receiptPayload(let edit): return (nil, .draft(name, receipt) { $0.alter = edit })
        case .receiptCertificates(let edit):
            return (nil, .draft(name, receipt) { $0.certificates = edit($0.certificates) })
        case .receipt(let edit): return (nil, .bytes(name) { $0 = edit($0) })
        }
    }
}
