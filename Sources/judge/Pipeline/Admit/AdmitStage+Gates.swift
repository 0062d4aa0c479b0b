internal import AppAttest
internal import AppCheck
internal import Crypto

/// Checks before a request's object is looked at: a place in the rollout and under the rate, and active keys.
extension AdmitStage {
    func checkRollout(
        _ item: Admission<some CheckTracer>,
        id: ExactText,
        _ verdict: inout Verdict
    ) throws(Reason) {
        guard let decision = settings.registry.apps[item.app].rollout.decide(id: id) else {
            return item.trace.notJudged("rollout", "the app has none")
        }
        verdict.rollout = decision
        try item.trace.check("rollout", decision.isAdmitted, else: Reason.rolloutNotAdmitted) { .rollout(decision) }
    }

    enum Gate: String {
        case attestations = ""
        /// A window in addition to that of the attestations: a handshake admitted at its challenge must find a place at
        /// its end.
        case challenges = ":generateAppAttestChallenge"

        /// The name of the count in the ledger.
        func name(_ app: String) -> String { app + rawValue }
    }

    func rate(
        _ item: Admission<some CheckTracer>,
        _ gate: Gate,
        state: inout BatchState
    ) throws(Reason) -> RateWindow? {
        let app = settings.registry.apps[item.app]
        let partitions = settings.exchange.partitions
        let limit = app.attestationsPerSecond
        guard limit > 0, partitions > 0 else {
            let isUnset = limit == 0
            item.trace.notJudged(
                "rate",
                isUnset ? "the app has no attestationsPerSecond" : "a replay applies no rate"
            )
            return nil
        }
        let count = state.rate(gate.name(app.name), on: item.partition)
        let known = count.map {
            RateWindow(second: $0.start.milliseconds / 1000, count: Int64(clamping: $0.count))
        }
        let window = RateWindow.admit(
            known,
            at: item.time,
            limit: limit,
            partition: item.partition,
            partitions: partitions
        )
        guard let window else {
            throw item.trace.failed("rate", .attestationRate) { .rate(count, limit, partitions) }
        }
        item.trace.passed("rate") { .rate(count, limit, partitions) }
        return window
    }

    func count(
        _ window: RateWindow,
        _ item: Admission<some CheckTracer>,
        _ gate: Gate,
        _ state: inout BatchState
    ) {
        let count = RateCount(
            start: EvaluationTime(milliseconds: window.second * 1000),
            count: UInt64(clamping: window.count)
        )
        state.set(rate: count, of: gate.name(settings.registry.apps[item.app].name), on: item.partition)
    }

    // MARK: Keys

    func times(_ item: Admission<some CheckTracer>, limitedUse: Bool) throws(Reason) -> TokenTimes {
        try checkSigningKey(item)
        let tokens = settings.registry.apps[item.app].tokens
        let time = TokenTimes.mintTime(clock: item.mintTime, record: item.time)
        return TokenTimes(at: time, limitedUse: limitedUse, settings: tokens)
    }

    func checkSigningKey(_ item: Admission<some CheckTracer>) throws(Reason) {
        guard settings.exchange.mints else { return item.trace.notJudged("signing key", "nothing is minted") }
        let algorithm = settings.registry.apps[item.app].tokens.algorithm
        let active = settings.exchange.keys.tokens.active(algorithm)
        let signs = active.map { $0.key.isAvailable && !item.unsigned.contains(SigningKey.Kinds($0.key.kind)) } ?? false
        try item.trace.check("signing key", signs, else: Reason.noActiveKey) {
            let presented = active.map { signs ? $0.kid : "\($0.kid), which does not sign" } ?? "none"
            return Comparison("signing key", presented, expected: "an active key for \(algorithm.rawValue)")
        }
    }

    func sealingKey(_ trace: some CheckTracer) throws(Reason) -> SealingKey? {
        let active = settings.exchange.keys.sealing.active
        if settings.exchange.mints { try checkActive("active sealing key", active?.id, trace) }
        return active
    }

    func checkActive(
        _ name: String,
        _ id: SealingKeyID?,
        _ trace: some CheckTracer
    ) throws(Reason) {
        try trace.check(name, id != nil, else: Reason.noActiveKey) {
            let presented = id.map { "\(ReportValue.bytes($0.bytes))" } ?? "none"
            return Comparison(name, presented, expected: "one in worker.json, with its file")
        }
    }
}
