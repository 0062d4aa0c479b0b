internal import AppAttest
internal import AppCheck
internal import Crypto

/// The two exchanges: checks for an active key, gates, the challenge and the artifact, then judges the device's object.
extension AdmitStage {
    func exchangeAttestation(
        _ item: Admission<some CheckTracer>,
        _ exchange: Request.Exchange,
        key: inout KeyRecord?,
        _ state: inout BatchState,
        _ verdict: inout Verdict
    ) throws(Reason) {
        guard let keyID = item.record.keyID else { throw .malformedRequest }
        // Keys in the ledger always pass the gates, which are for new devices only.
        let isNew = key == nil
        if isNew {
            // Before every check that could count as a failure, the one of the record's age included.
            try checkRollout(item, id: item.record.installationID ?? item.keyText, &verdict)
        }
        try checkAge(item)
        let rate = isNew ? try self.rate(item, .attestations, state: &state) : nil
        let times = try times(item, limitedUse: exchange.limitedUse)
        let sealingKey = try sealingKey(item.trace)
        let consumed = try open(exchange.challenge, keyID, item, &state)
        try attestation(item, key: &key, times: times)
        if let known = key, let artifact = artifact(of: known) {
            verdict.order = .attestation(artifact, times, now: item.now)
        }
        if let sealingKey { state.note(sealingKey: sealingKey.id.value, at: item.time, on: item.partition) }
        if let rate { count(rate, item, .attestations, &state) }
        if let (id, expiry) = consumed {
            state.consume(challenge: id, ConsumedID(expiresAt: expiry, request: item.digest), on: item.partition)
        }
    }

    func exchangeAssertion(
        _ item: Admission<some CheckTracer>,
        _ exchange: Request.Exchange,
        key: inout KeyRecord?,
        _ state: inout BatchState,
        _ verdict: inout Verdict
    ) throws(Reason) {
        try checkAge(item)
        // Without a key a genuine artifact looks like a forged one: the device is not to blame.
        try checkActive("active sealing key", settings.exchange.keys.sealing.active?.id, item.trace)
        guard let keyID = item.record.keyID, let opened = item.finding.seals?.artifact
        else { throw .artifactInvalid }
        let artifact = try item.trace.noted("artifact", opened) {
            .seal(ofArtifact: exchange.artifact ?? [], opened, settings.exchange.keys.sealing)
        }
        try item.trace.check("artifact's app", artifact.app == names[item.app], else: Reason.artifactInvalid) {
            Comparison("artifact's app", artifact.app, expected: names[item.app])
        }
        let isAccepted = accepts(artifact.environment, item.app)
        try item.trace.check("artifact's environment", isAccepted, else: Reason.artifactInvalid) {
            Comparison("artifact's environment", artifact.environment.rawValue, expected: environments(item.app))
        }
        let times = try times(item, limitedUse: exchange.limitedUse)
        let consumed = try open(exchange.challenge, keyID, item, &state)
        if key == nil, settings.registry.apps[item.app].unknownKeys == .restore, settings.mayRestoreKeys {
            key = KeyRecord(restoredFrom: artifact)
            verdict.isRestored = true
        }
        try assertion(item, key: &key, times: times, isRestored: verdict.isRestored)
        verdict.order = .assertion(times, now: item.now)
        if let (id, expiry) = consumed {
            state.consume(challenge: id, ConsumedID(expiresAt: expiry, request: item.digest), on: item.partition)
        }
    }

    /// The artifact of a key; nil for a key without an app or a point, which no exchange has accepted.
    func artifact(of key: KeyRecord) -> Artifact? {
        guard let publicKey = key.publicKey, let app = key.app else { return nil }
        return Artifact(
            publicKey: publicKey,
            app: app,
            appleAppID: key.appleAppID,
            environment: key.environment,
            registeredAt: key.registeredAt
        )
    }

    // MARK: Challenges

    /// Checks that a challenge is genuine, lives and was not used with this key. Returns the use to remember; nil where
    /// the gateway judges challenges.
    private func open(
        _ challenge: [UInt8],
        _ keyID: KeyID,
        _ item: Admission<some CheckTracer>,
        _ state: inout BatchState
    ) throws(Reason) -> (id: Digest, expiry: EvaluationTime)? {
        let trace = item.trace
        guard settings.exchange.challenges.mode == .sealed else {
            trace.notJudged("challenge", "the gateway judges challenges: challenges.mode is external")
            return nil
        }
        try checkActive("active challenge key", settings.exchange.keys.challenges.active?.id, trace)
        let streamTime = state.streamTime(of: item.partition)
        let found = item.finding.seals?.challenge ?? .failure(.challengeInvalid)
        let issuedAt = try trace.noted("challenge", found) {
            .seal(of: challenge, isValid: (try? found.get()) != nil, for: names[item.app], settings)
        }
        let ttl = settings.exchange.challenges.ttlMilliseconds
        let opened = try trace.noted(
            "challenge's age",
            OpenedChallenge.judge(issuedAt: issuedAt, ttl: ttl, at: streamTime)
        ) { .challengeAge(issuedAt, ttl: ttl, at: streamTime) }
        let id = ChallengeConsumption.id(challenge: challenge, keyID: keyID)
        let used = state.challenge(id, on: item.partition)
        try trace.check("challenge's use", used == nil, else: Reason.challengeConsumed) { .use(ofChallenge: used) }
        return (id, opened.expiresAt)
    }

    /// Notes the challenge again that a duplicate's first delivery used up: with at-least-once delivery a crash can
    /// separate the key record from the challenge record. Does nothing where it is noted already or has expired.
    func note(_ exchange: Request.Exchange, of item: Admission<some CheckTracer>, _ state: inout BatchState) {
        guard let keyID = item.record.keyID, let use = try? open(exchange.challenge, keyID, item, &state) else {
            return
        }
        state.consume(challenge: use.id, ConsumedID(expiresAt: use.expiry, request: item.digest), on: item.partition)
    }

    /// generateAppAttestChallenge: made without state, gated where the handshake header announces an attestation.
    func challenge(_ item: Admission<some CheckTracer>, _ state: inout BatchState) -> Verdict {
        var verdict = Verdict(outcome: .accepted)
        do throws(Reason) {
            try checkBan(item, &state)
            try checkAge(item)
            // The gateway makes the challenges: this worker serves none.
            let mode = settings.exchange.challenges.mode
            try item.trace.check("challenges", mode == .sealed, else: Reason.unknownMethod) {
                Comparison("challenges.mode", mode.rawValue, expected: ChallengeSettings.Mode.sealed.rawValue)
            }
            var rate: RateWindow?
            if item.record.isAttestationHandshake, let installation = item.record.installationID {
                try checkRollout(item, id: installation, &verdict)
                rate = try self.rate(item, .challenges, state: &state)
            }
            if settings.exchange.mints {
                try checkActive("active challenge key", settings.exchange.keys.challenges.active?.id, item.trace)
            }
            if let rate { count(rate, item, .challenges, &state) }
            verdict.order = .challenge(at: item.time)
            return verdict
        } catch { return refuse(item, error, verdict) }
    }

    /// exchangeDebugToken: changes no state, so that a redelivered request gets another token of the same `jti`.
    func debugToken(_ item: Admission<some CheckTracer>, _ state: inout BatchState) -> Verdict {
        var verdict = Verdict(outcome: .accepted)
        do throws(Reason) {
            try checkBan(item, &state)
            try checkAge(item)
            guard case .debugToken(let hash, let limitedUse) = item.record.request?.body else {
                throw .malformedRequest
            }
            let app = settings.registry.apps[item.app]
            guard let known = app.debugToken(hash) else {
                throw item.trace.failed("debug token", .debugTokenInvalid) { .debugToken(hash, nil, of: app) }
            }
            item.trace.passed("debug token") { .debugToken(hash, known, of: app) }
            try item.trace.check("debug token's end", item.time < known.until, else: Reason.debugTokenExpired) {
                let expected = "before \(ReportValue.time(known.until))"
                return Comparison("debug token's end", .time(item.time), expected: .text(expected))
            }
            try checkSigningKey(item)
            let time = TokenTimes.mintTime(clock: item.mintTime, record: item.time)
            let times = TokenTimes(debugAt: time, limitedUse: limitedUse, settings: app.tokens)
            verdict.order = .debugToken(times, now: item.now)
            return verdict
        } catch { return refuse(item, error, verdict) }
    }
}

extension Admission {
    /// The key ID as Apple writes it.
    fileprivate var keyText: ExactText { (record.keyID?.recordKey).flatMap { ExactText(validating: $0) } ?? "" }
}

extension KeyRecord {
    /// A key that the ledger has lost: its counter starts with the assertion that restores it.
    fileprivate init(restoredFrom artifact: Artifact) {
        self.init(
            publicKey: artifact.publicKey,
            counter: 0,
            app: artifact.app,
            appleAppID: artifact.appleAppID,
            environment: artifact.environment,
            registeredAt: artifact.registeredAt
        )
        unseen = KeyCounters.allUnseen
    }
}
