/// An attestation whose fields are judged; the receipt, and whether an unannounced extension map counts, are open.
struct JudgedAttestation: Sendable {
    /// Whether an extension map counts.
    enum MapTrust {
        case counts, ignored
        /// It counts where the verified receipt has the client data hash.
        case countsByReceipt
    }

    private(set) var evidence: AttestationEvidence
    /// The entries that wait for the receipt, and the policies that they are judged by.
    private let waiting: (entries: ExtensionEntries, expectations: Expectations)?
    private let isReceiptRequired: Bool

    /// Judges the entries, except those that wait for the receipt.
    init(
        _ evidence: AttestationEvidence,
        _ entries: ExtensionEntries,
        _ trust: MapTrust,
        _ expectations: Expectations
    ) throws(Refusal) {
        self.evidence = evidence
        isReceiptRequired = expectations.receipt == .require
        if trust == .countsByReceipt {
            waiting = (entries, expectations)
        } else {
            waiting = nil
            try self.evidence.add(entries, counts: trust == .counts, expectations)
        }
    }

    /// - Parameter receipt: nil = there is none, or the policy ignores it.
    func concluded(with receipt: ReceiptVerdict?) throws(Refusal) -> AttestationEvidence {
        var evidence = evidence
        evidence.receipt = receipt
        if let (entries, expectations) = waiting {
            try evidence.add(entries, counts: receipt?.vouchesForHash ?? false, expectations)
        }
        // Apple says that another hash was attested: whatever the policy on receipts, the parts do not belong together.
        if receipt?.refusal == .clientHash { throw .receipt(.clientHash) }
        guard isReceiptRequired else { return evidence }
        guard let receipt else { throw .receipt(.missing) }
        if let refusal = receipt.refusal { throw .receipt(refusal) }
        return evidence
    }
}

extension AttestationEvidence {
    fileprivate mutating func add(
        _ found: ExtensionEntries,
        counts: Bool,
        _ expectations: Expectations
    ) throws(Refusal) {
        let entries = counts ? found : .missing
        try entries.judge(by: expectations)
        validationCategory = entries.validationCategory
        bundleVersion = entries.bundleVersion
        ignoresExtensions = found.isPresent && !counts
    }
}

extension ReceiptVerdict {
    /// Whether the receipt, compared with its attestation, proves that this client data hash was attested.
    var vouchesForHash: Bool { refusal?.concernsAgeOnly ?? true }
}
