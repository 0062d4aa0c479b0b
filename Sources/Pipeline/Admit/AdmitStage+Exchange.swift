internal import AppAttest
internal import AppCheck
internal import Crypto

/// The two exchanges: checks for an active key, gates, the challenge and the artifact, then judges the device's object.
extension AdmitStage {
    func exchangeAttestation(
        _ item: Admission,
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
            verdict.rollout = rollout(item, id: item.record.installationID ?? item.keyText)
            guard verdict.rollout?.isAdmitted ?? true else { throw .rolloutNotAdmitted }
        }
        if case .outOfTime(let reason) = item.finding.object { throw reason }
        let rate = isNew ? try self.rate(item, .attestations, state: &state) : nil
        let times = try times(item, limitedUse: exchange.limitedUse)
        let sealingKey = try sealingKey()
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
        _ item: Admission,
        _ exchange: Request.Exchange,
        key: inout KeyRecord?,
        _ state: inout BatchState,
        _ verdict: inout Verdict
    ) throws(Reason) {
        if case .outOfTime(let reason) = item.finding.object { throw reason }
        // Without a key a genuine artifact looks like a forged one: the device is not to blame.
        guard settings.exchange.keys.sealing.active != nil else { throw .noActiveKey }
        guard let keyID = item.record.keyID, let opened = item.finding.seals?.artifact
        else { throw .artifactInvalid }
        let artifact = try opened.get()
        guard artifact.app == names[item.app], accepts(artifact.environment, item.app) else { throw .artifactInvalid }
        let times = try times(item, limitedUse: exchange.limitedUse)
        let consumed = try open(exchange.challenge, keyID, item, &state)
        if key == nil, settings.registry.apps[item.app].unknownKeys == .restore, settings.mayRestoreKeys {
            key = KeyRecord(restoredFrom: artifact)
            verdict.isRestored = true
        }
        try assertion(item, key: &key, times: times)
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
        _ item: Admission,
        _ state: inout BatchState
    ) throws(Reason) -> (id: Digest, expiry: EvaluationTime)? {
        guard settings.exchange.challenges.mode == .sealed else { return nil }
        guard settings.exchange.keys.challenges.active != nil else { throw .noActiveKey }
        let streamTime = state.streamTime(of: item.partition)
        let issuedAt = try (item.finding.seals?.challenge ?? .failure(.challengeInvalid)).get()
        let opened = try OpenedChallenge.judge(
            issuedAt: issuedAt,
            ttl: settings.exchange.challenges.ttlMilliseconds,
            at: streamTime
        ).get()
        let id = ChallengeConsumption.id(challenge: challenge, keyID: keyID)
        guard state.challenge(id, on: item.partition) == nil else { throw .challengeConsumed }
        return (id, opened.expiresAt)
    }

    /// Notes the challenge again that a duplicate's first delivery used up: with at-least-once delivery a crash can
    /// separate the key record from the challenge record. Does nothing where it is noted already or has expired.
    func note(_ exchange: Request.Exchange, of item: Admission, _ state: inout BatchState) {
        guard let keyID = item.record.keyID, let use = try? open(exchange.challenge, keyID, item, &state) else {
            return
        }
        state.consume(challenge: use.id, ConsumedID(expiresAt: use.expiry, request: item.digest), on: item.partition)
    }

    /// generateAppAttestChallenge: made without state, gated where the handshake header announces an attestation.
    func challenge(_ item: Admission, _ state: inout BatchState) -> Verdict {
        var verdict = Verdict(outcome: .accepted)
        do throws(Reason) {
            try checkBan(item, &state)
            if let reason = item.record.clockReason { throw reason }
            // The gateway makes the challenges: this worker serves none.
            guard settings.exchange.challenges.mode == .sealed else { throw .unknownMethod }
            var rate: RateWindow?
            if item.record.isAttestationHandshake, let installation = item.record.installationID {
                verdict.rollout = rollout(item, id: installation)
                guard verdict.rollout?.isAdmitted ?? true else { throw .rolloutNotAdmitted }
                rate = try self.rate(item, .challenges, state: &state)
            }
            if settings.exchange.mints {
                guard settings.exchange.keys.challenges.active != nil else { throw .noActiveKey }
            }
            if let rate { count(rate, item, .challenges, &state) }
            verdict.order = .challenge(at: item.time)
            return verdict
        } catch { return refuse(item, error, verdict) }
    }

    /// exchangeDebugToken: changes no state, so that a redelivered request gets another token of the same `jti`.
    func debugToken(_ item: Admission, _ state: inout BatchState) -> Verdict {
        var verdict = Verdict(outcome: .accepted)
        do throws(Reason) {
            try checkBan(item, &state)
            if let reason = item.record.clockReason { throw reason }
            guard case .debugToken(let hash, let limitedUse) = item.record.request?.body else {
                throw .malformedRequest
            }
            let app = settings.registry.apps[item.app]
            guard let known = app.debugToken(hash) else { throw .debugTokenInvalid }
            guard item.time < known.until else { throw .debugTokenExpired }
            try checkSigningKey(item)
            let time = TokenTimes.mintTime(clock: item.now, record: item.time)
            let times = TokenTimes(debugAt: time, limitedUse: limitedUse, settings: app.tokens)
            verdict.order = .debugToken(times, now: item.now)
            return verdict
        } catch { return refuse(item, error, verdict) }
    }

    // MARK: Gates

    private func rollout(_ item: Admission, id: ExactText) -> RolloutDecision? {
        settings.registry.apps[item.app].rollout.decide(id: id)
    }

    enum Gate: String {
        case attestations = ""
        /// A window in addition to that of the attestations: a handshake admitted at its challenge must find a place at
        /// its end.
        case challenges = ":generateAppAttestChallenge"

        /// The name of the count in the ledger.
        func name(_ app: String) -> String { app + rawValue }
    }

    private func rate(_ item: Admission, _ gate: Gate, state: inout BatchState) throws(Reason) -> RateWindow? {
        let app = settings.registry.apps[item.app]
        let partitions = settings.exchange.partitions
        guard app.attestationsPerSecond > 0, partitions > 0 else { return nil }
        let known = state.rate(gate.name(app.name), on: item.partition).map {
            RateWindow(second: $0.start.milliseconds / 1000, count: Int64(clamping: $0.count))
        }
        let window = RateWindow.admit(
            known,
            at: item.time,
            limit: app.attestationsPerSecond,
            partition: item.partition,
            partitions: partitions
        )
        guard let window else { throw .attestationRate }
        return window
    }

    private func count(_ window: RateWindow, _ item: Admission, _ gate: Gate, _ state: inout BatchState) {
        let count = RateCount(
            start: EvaluationTime(milliseconds: window.second * 1000),
            count: UInt64(clamping: window.count)
        )
        state.set(rate: count, of: gate.name(settings.registry.apps[item.app].name), on: item.partition)
    }

    // MARK: Keys

    private func times(_ item: Admission, limitedUse: Bool) throws(Reason) -> TokenTimes {
        try checkSigningKey(item)
        let tokens = settings.registry.apps[item.app].tokens
        let time = TokenTimes.mintTime(clock: item.now, record: item.time)
        return TokenTimes(at: time, limitedUse: limitedUse, settings: tokens)
    }

    func checkSigningKey(_ item: Admission) throws(Reason) {
        guard settings.exchange.mints else { return }
        let algorithm = settings.registry.apps[item.app].tokens.algorithm
        guard settings.exchange.keys.tokens.active(algorithm) != nil else { throw .noActiveKey }
    }

    func sealingKey() throws(Reason) -> SealingKey? {
        let active = settings.exchange.keys.sealing.active
        guard active != nil || !settings.exchange.mints else { throw .noActiveKey }
        return active
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
    }
}
