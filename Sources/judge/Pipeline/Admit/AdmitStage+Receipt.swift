internal import AppAttest
internal import AppCheck

/// verifyReceipt: what Apple answered to the exchange of a key's receipt. It moves the key's risk metric, and nothing else.
extension AdmitStage {
    func receipt(_ item: Admission<some CheckTracer>, _ state: inout BatchState) -> Verdict {
        guard let keyID = item.record.keyID, case .receipt(_, let exchanged)? = item.record.request?.body else {
            return Verdict(outcome: .deadLetter(.internal))
        }
        var key = state.wholeKey(keyID, on: item.partition)
        var verdict = Verdict(outcome: .accepted, environment: key?.environment, previousCounter: key?.counter)
        verdict.risk = key?.risk
        do throws(Reason) {
            try checkBan(item, &state)
            try checkAge(item)
            try item.trace.check("risk.mode", keepsReceipts(item.app), else: Reason.riskOff) {
                Comparison("risk.mode", settings.registry.apps[item.app].risk.mode.rawValue, expected: "report")
            }
            let evidence = try judged(item, key)
            let metric = try metric(of: evidence, item)
            if let known = key, metric.createdAt == known.risk?.createdAt {
                verdict.duplicate = Verdict.LedgerFacts(appleAppID: known.appleAppID, counter: known.counter)
                return verdict
            }
            try checkOrder(metric, exchanged, evidence, after: key, item)
            key?.risk = metric
            if let changed = key.take() { state.set(changed, of: keyID, on: item.partition) }
            return verdict
        } catch { return refuse(item, error, verdict) }
    }

    /// The receipt's evidence, where it is genuine and the key's own.
    private func judged(_ item: Admission<some CheckTracer>, _ key: KeyRecord?) throws(Reason) -> ReceiptEvidence {
        let trace = item.trace
        try trace.check("stored key", key != nil, else: Reason.unknownKey) {
            Comparison("key", key == nil ? "not in the ledger" : "in the ledger", expected: "in the ledger")
        }
        let hasPoint = key?.publicKey != nil
        try trace.check("stored point", hasPoint, else: Reason.object(.keyInvalid)) {
            Comparison("stored point", hasPoint ? "a point" : "no point", expected: "a point of P-256")
        }
        try checkBinding(key, item, presented: nil)
        guard case .receipt(let found) = item.finding else { throw .object(.receipt(.malformed)) }
        let evidence: ReceiptEvidence
        do { evidence = try found.get() } catch { throw trace.failed("receipt", .object(error)) { nil } }
        trace.passed("receipt") { nil }
        let isSameApp = key?.names.has(appleAppID: evidence.appID.text) ?? false
        try trace.check("receipt's App ID", isSameApp, else: Reason.object(.receipt(.appID))) {
            Comparison("App ID", evidence.appID.text, expected: "the key's own: \(key?.appleAppID ?? "")")
        }
        let environment = key?.environment ?? .production
        let isSame = environment == evidence.environment
        try trace.check("receipt's environment", isSame, else: Reason.object(.receipt(.environment))) {
            Comparison("environment", evidence.environment.rawValue, expected: "the key's own: \(environment.rawValue)")
        }
        return evidence
    }

    private func metric(
        of evidence: ReceiptEvidence,
        _ item: Admission<some CheckTracer>
    ) throws(Reason) -> RiskMetric {
        let (value, text) = (evidence.receipt.metric, evidence.receipt.riskMetric)
        try item.trace.check("risk metric", value != nil, else: Reason.receiptMetric) {
            Comparison("risk metric", text.map { "\($0)" } ?? "none", expected: "1 to 9 digits")
        }
        // A genuine receipt was created within a day of the record.
        let seconds = (evidence.receipt.createdAt?.milliseconds ?? 0) / 1000
        return RiskMetric(value ?? 0, createdAt: UInt32(clamping: max(1, seconds)))
    }

    /// Only what is newer than all that is known moves the metric, and only a receipt of the last attestation: an older
    /// one must not come back, and a superseded one must not begin a second chain of exchanges.
    private func checkOrder(
        _ metric: RiskMetric,
        _ exchanged: EvaluationTime?,
        _ evidence: ReceiptEvidence,
        after key: KeyRecord?,
        _ item: Admission<some CheckTracer>
    ) throws(Reason) {
        if let last = key?.issued {
            try item.trace.check("receipt's attestation", evidence.issued >= last, else: Reason.receiptSuperseded) {
                .order(evidence.issued, after: last)
            }
        }
        guard let kept = key?.risk else { return }
        func comparison(_ name: String, _ seconds: Int64, _ expected: String) -> Comparison {
            let time = ReportValue.time(EvaluationTime(seconds: seconds))
            let last = ReportValue.time(EvaluationTime(seconds: Int64(kept.createdAt)))
            return Comparison(name, time, expected: .text("\(expected) \(last)"))
        }
        try item.trace.check("receipt's order", metric.createdAt > kept.createdAt, else: Reason.receiptSuperseded) {
            comparison("createdAt", Int64(metric.createdAt), "after")
        }
        guard let exchanged = exchanged.map({ $0.milliseconds / 1000 }) else { return }
        try item.trace.check("exchanged receipt", exchanged >= Int64(kept.createdAt), else: Reason.receiptSuperseded) {
            comparison("exchanged", exchanged, "not before")
        }
    }
}
