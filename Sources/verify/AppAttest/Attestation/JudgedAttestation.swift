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
        _ expectations: Expectations,
        _ trace: some CheckTracer
    ) throws(Refusal) {
        self.evidence = evidence
        isReceiptRequired = expectations.receipt == .require
        if trust == .countsByReceipt {
            waiting = (entries, expectations)
        } else {
            waiting = nil
            try self.evidence.add(entries, counts: trust == .counts, expectations, trace)
        }
    }

    /// A genuine receipt that was compared with its attestation proves that this client data hash was attested.
    ///
    /// - Parameters:
    ///   - receipt: nil = there is none, or the policy ignores it.
    ///   - part: of the receipt's own checks.
    func concluded<Tracer: CheckTracer>(
        with receipt: ReceiptVerdict?,
        _ trace: Tracer,
        _ part: Tracer
    ) throws(Refusal) -> AttestationEvidence {
        var evidence = evidence
        evidence.receipt = receipt
        if let (entries, expectations) = waiting {
            try evidence.add(entries, counts: receipt?.isGenuine ?? false, expectations, trace)
        }
        guard let receipt else {
            guard isReceiptRequired else { return evidence }
            throw trace.failed("receipt", .receipt(.missing)) {
                Comparison("receipt", .absent, expected: .text("a receipt"))
            }
        }
        // Apple says that another hash was attested: whatever the policy on receipts, the parts do not belong together.
        if let refusal = receipt.refusal, isReceiptRequired || refusal == .clientHash {
            trace.note("receipt", .failed(refusal.code), adds: false) { part.comparisons(at: [refusal.rawValue]) }
            throw .receipt(refusal)
        }
        trace.note("receipt", receipt.refusal.map { .reported($0.code) } ?? .passed, adds: false) {
            let shown = receipt.refusal.map { [$0] } ?? [.appID, .clientHash, .tooOld]
            return part.comparisons(at: shown.map(\.rawValue))
        }
        return evidence
    }
}

extension AttestationEvidence {
    fileprivate mutating func add(
        _ found: ExtensionEntries,
        counts: Bool,
        _ expectations: Expectations,
        _ trace: some CheckTracer
    ) throws(Refusal) {
        let entries = counts ? found : .missing
        ignoresExtensions = found.isPresent && !counts
        try entries.judge(by: expectations, isIgnored: ignoresExtensions, trace)
        validationCategory = entries.validationCategory
        bundleVersion = entries.bundleVersion
    }
}
