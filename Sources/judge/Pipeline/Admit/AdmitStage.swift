package import AppAttest
internal import AppCheck
package import Crypto
internal import Streams

/// Admit (loop, in offset order): duplicates, gates, bound keys, counters, ids that may be used once. The only stage
/// that decides about state.
package struct AdmitStage: Sendable {
    let settings: PipelineSettings
    /// The apps' names in the ledger.
    let names: [String]
    /// The environments that the apps accept: asking an app's expectations would copy them.
    private let accepted: [(production: Bool, development: Bool)]
    /// The apps that keep receipts, likewise.
    private let keepsReceipts: [Bool]
    /// The greatest metric of a key that each app serves.
    private let mostRisk: [UInt16?]
    /// How far behind the highest a skipped counter of each app's keys is accepted.
    let windows: [Int]

    package init(settings: PipelineSettings) {
        self.settings = settings
        names = settings.registry.apps.map(\.name)
        accepted = settings.registry.apps.map { app in
            (app.expectations.accepts(.production), app.expectations.accepts(.development))
        }
        keepsReceipts = settings.registry.apps.map(\.risk.keepsReceipts)
        mostRisk = settings.registry.apps.map(\.risk.mostServed)
        windows = settings.registry.apps.map(\.counterWindow)
    }

    func accepts(_ environment: Environment, _ app: Int) -> Bool {
        environment == .production ? accepted[app].production : accepted[app].development
    }

    /// - Parameters:
    ///   - now: the present time; nil in replay, where the record's own time counts.
    ///   - mintTime: when tokens that are minted begin; nil = now.
    ///   - work: notes each record before it is judged.
    ///   - unsigned: keys that have failed to sign for this batch, and count as absent.
    ///   - observer: sees each record with its verdict, for explanations; nil on the hot path.
    ///   - showsPassed: it sees the values of checks that passed, too.
    ///   - ledger: the committed state of a ledger partition.
    package func admit(
        _ records: [DecodedRecord],
        findings: [Finding],
        overlay: inout LedgerOverlay,
        now: EvaluationTime?,
        mintTime: EvaluationTime? = nil,
        unsigned: SigningKey.Kinds = [],
        work: WorkSlot? = nil,
        observer: Observer? = nil,
        showsPassed: Bool = false,
        ledger: @escaping (Int32) -> PartitionLedger?
    ) -> [Verdict] {
        precondition(records.count == findings.count, "one finding per record")
        var verdicts: [Verdict] = []
        verdicts.reserveCapacity(records.count)
        var state = BatchState(overlay, settings: settings, ledger: ledger)
        let times = now.map { (now: $0, mint: mintTime ?? $0) }
        let (records, findings) = (records.span, findings.span)
        for index in records.indices {
            let record = records[index]
            work?.note(record)
            state.note(record)
            guard let observer else {
                let item = Admission(record, findings[index], times, unsigned: unsigned, trace: NoTrace())
                verdicts.append(admit(item, &state))
                continue
            }
            let then = self.state(before: record, &state)
            let (finding, trace) = (findings[index], CheckTrace(showsPassed: showsPassed))
            let verdict = admit(Admission(record, finding, times, unsigned: unsigned, trace: trace), &state)
            let checks = trace.checks
            observer(Observation(record: record, finding: finding, verdict: verdict, state: then, checks: checks))
            verdicts.append(verdict)
        }
        overlay = state.finish()
        return verdicts
    }

    private func admit(_ item: Admission<some CheckTracer>, _ state: inout BatchState) -> Verdict {
        guard item.record.record.offset >= state.appliedOffset(of: item.partition) else {
            return Verdict(outcome: .applied)
        }
        if let verb = item.record.verb {
            switch verb.content {
            case .nothing: return challenge(item, &state)
            case .debugToken: return debugToken(item, &state)
            case .appCheckToken: return token(item, &state)
            case .attestation, .assertion: return judgeObject(item, verb, &state)
            case .receipt: return receipt(item, &state)
            }
        }
        switch item.record.shape {
        case .refused(let reason, _, _, let status):
            return Verdict(outcome: reason.isDeferral ? .deferred(reason, status) : .refused(reason, status))
        case .command(let command, _): return self.command(command, item.record, &state, item.trace)
        case .deadLetter(let reason): return Verdict(outcome: .deadLetter(reason))
        case .request: preconditionFailure("a request has a verb")
        }
    }

    private func judgeObject(
        _ item: Admission<some CheckTracer>,
        _ verb: Verb,
        _ state: inout BatchState
    ) -> Verdict {
        guard let keyID = item.record.keyID else { return Verdict(outcome: .deadLetter(.internal)) }
        var key = state.key(keyID, on: item.partition, forRequestOf: item.record.valueDigest)
        if let last = key?.lastRequest, isSame(last, item.record), let known = key {
            return duplicate(item, verb, known, last, &state)
        }
        let (environment, isUnverified) = (key?.environment, key?.publicKey == nil)
        var verdict = Verdict(outcome: .accepted, environment: environment, previousCounter: key?.counter)
        do throws(Reason) {
            try checkBan(item, &state)
            switch (verb.bringsAttestation, verb.isExchange) {
            case (true, true): try exchangeAttestation(item, item.exchange(), key: &key, &state, &verdict)
            case (false, true): try exchangeAssertion(item, item.exchange(), key: &key, &state, &verdict)
            case (let bringsAttestation, false):
                try checkAge(item)
                if bringsAttestation { try attestation(item, key: &key) } else { try assertion(item, key: &key) }
            }
            verdict.environment = key?.environment
            verdict.risk = risk(of: key, item)
            key?.lastUse = state.use(on: item.partition)
            // Taken out, so that the record moves.
            if let changed = key.take() { state.set(changed, of: keyID, on: item.partition) }
            return verdict
        } catch {
            verdict.environment = environment
            verdict.isUnverified = isUnverified
            verdict.order = nil
            verdict.isRestored = false
            if error == .riskTooHigh { verdict.risk = risk(of: key, item) }
            return refuse(item, error, verdict)
        }
    }

    func keepsReceipts(_ app: Int) -> Bool { keepsReceipts[app] }

    /// The key's metric while it counts.
    private func risk(of key: KeyRecord?, _ item: Admission<some CheckTracer>) -> RiskMetric? {
        guard let risk = key?.risk, keepsReceipts[item.app], risk.counts(at: item.time) else { return nil }
        return risk
    }

    /// Refuses a key whose counting metric is too high. It is the last check, so that the reason of any other failure
    /// comes first. A new key has no metric.
    func checkRisk(of risk: RiskMetric?, _ item: Admission<some CheckTracer>) throws(Reason) {
        guard let most = mostRisk[item.app] else { return }
        let counting = risk.flatMap { $0.counts(at: item.time) ? $0 : nil }
        try item.trace.check("risk.above", counting.map { $0.value <= most } ?? true, else: Reason.riskTooHigh) {
            let presented = counting.map { "\($0.value)" } ?? "none that counts"
            return Comparison("risk metric", .text("\(presented)"), expected: .text("at most \(most)"))
        }
    }

    func refuse(_ item: Admission<some CheckTracer>, _ reason: Reason, _ verdict: Verdict) -> Verdict {
        var verdict = verdict
        let status = reason.status(appID: item.record.request?.appID)
        verdict.outcome = reason.isDeferral ? .deferred(reason, status) : .refused(reason, status)
        return verdict
    }

    private func isSame(_ last: LastRequest, _ record: DecodedRecord) -> Bool {
        last.valueDigest == record.valueDigest && last.id == record.requestID
    }

    /// A redelivered request: the same verdict, and the same token with the life that is left of it.
    private func duplicate(
        _ item: Admission<some CheckTracer>,
        _ verb: Verb,
        _ key: KeyRecord,
        _ last: LastRequest,
        _ state: inout BatchState
    ) -> Verdict {
        var verdict = Verdict(
            outcome: .accepted,
            environment: key.environment,
            duplicate: Verdict.LedgerFacts(appleAppID: key.appleAppID, counter: key.counter)
        )
        verdict.isUnverified = key.publicKey == nil
        let times = TokenTimes(issuedAt: Int64(last.issuedAt), expiresAt: Int64(last.expiresAt))
        guard verb.isExchange, let exchange = item.record.request?.exchange else { return verdict }
        note(exchange, of: item, &state)
        do throws(Reason) {
            try checkSigningKey(item)
            if verb.bringsAttestation {
                // The active key may have changed since the first answer: the artifact is sealed under today's key.
                if let active = try sealingKey(item.trace) {
                    state.note(sealingKey: active.id.value, at: item.time, on: item.partition)
                }
                verdict.order = artifact(of: key).map { .attestation($0, times, now: item.now) }
            } else {
                verdict.order = .assertion(times, now: item.now)
            }
            return verdict
        } catch {
            // Accepted without its token, the request would leave the device waiting.
            var refused = Verdict(outcome: .accepted, environment: key.environment)
            refused.isUnverified = key.publicKey == nil
            return refuse(item, error, refused)
        }
    }
}

/// One request in Admit.
struct Admission<Tracer: CheckTracer> {
    let record: DecodedRecord
    let finding: Finding
    /// The present time, from which an answer tells the life that is left.
    let now: EvaluationTime
    /// When its token begins.
    let mintTime: EvaluationTime
    /// Keys that sign nothing for this batch.
    let unsigned: SigningKey.Kinds
    let trace: Tracer

    /// - Parameter times: nil = the record's own.
    init(
        _ record: DecodedRecord,
        _ finding: Finding,
        _ times: (now: EvaluationTime, mint: EvaluationTime)?,
        unsigned: SigningKey.Kinds,
        trace: Tracer
    ) {
        (now, mintTime) = times ?? (record.time, record.time)
        (self.record, self.finding, self.unsigned, self.trace) = (record, finding, unsigned, trace)
    }

    var partition: Int32 { record.record.partition }

    /// Index into the registry's apps.
    ///
    /// - Precondition: the request is not of verifyAppCheckToken, which names a project and no app.
    var app: Int {
        guard let app = record.appIndex else { preconditionFailure("a project is not an app") }
        return app
    }

    /// - Throws: for a request outside the exchange, which no caller has.
    func exchange() throws(Reason) -> Request.Exchange {
        guard let exchange = record.request?.exchange else { throw .malformedRequest }
        return exchange
    }

    /// The evaluation time.
    var time: EvaluationTime { record.time }

    func lastRequest(_ times: TokenTimes? = nil) -> LastRequest {
        LastRequest(
            id: record.requestID,
            valueDigest: record.valueDigest,
            issuedAt: UInt32(clamping: times?.issuedAt ?? 0),
            expiresAt: UInt32(clamping: times?.expiresAt ?? 0)
        )
    }

    /// Names the request among all others: its id and its value.
    var digest: Digest {
        let id = record.requestID.utf8
        return record.valueDigest.withBytes { SHA256.hash($0, id.span) }
    }
}

extension DecodedRecord {
    /// The evaluation time.
    var time: EvaluationTime { EvaluationTime(milliseconds: record.timestamp) }
}
