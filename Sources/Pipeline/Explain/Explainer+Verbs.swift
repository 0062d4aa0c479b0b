internal import AppAttest
internal import AppCheck
internal import Crypto
internal import Log

/// The verbs, each check in Admit's order.
extension Explainer {
    func judge(_ request: Request, _ look: inout SecondLook) {
        ban(&look)
        switch request.body {
        case .generateChallenge: challenge(request, &look)
        case .debugToken(let hash, _): debugToken(hash, request, &look)
        case .verifyToken(let token): self.token(token, request, &look)
        case .object(let object, let binding):
            guard let app = request.appIndex, let keyID = request.keyID else { return }
            let hash: [UInt8]
            var artifact: Artifact?
            switch binding {
            case .clientDataHash(let given):
                hash = given
                age(&look)
            case .exchange(let exchange):
                let sealed = exchange.artifact ?? []
                hash = SHA256.hash(sealed.span, exchange.challenge.span).bytes
                artifact = self.exchange(exchange, app: app, keyID, &look)
            }
            switch object {
            case .attestation(let bytes): attestation(bytes, hash, app: app, keyID, &look)
            case .assertion(let bytes): assertion(bytes, hash, app: app, artifact, &look)
            }
        }
    }

    private func ban(_ look: inout SecondLook) {
        let subject = look.state.ban.map { $0.kind == .key ? "the key" : "the installation" }
        let presented = look.state.ban.flatMap { ban in
            subject.map { "\($0), since \(ReportValue.time(ban.since))" }
        }
        let row = Comparison("ban", presented ?? "none", expected: "none, of the key or of the installation")
        look.walk.add("ban", look.state.ban == nil, else: .banned, row)
    }

    /// Everything of an exchange before its object.
    ///
    /// - Returns: what an assertion's artifact holds.
    private func exchange(
        _ exchange: Request.Exchange,
        app: Int,
        _ keyID: KeyID,
        _ look: inout SecondLook
    ) -> Artifact? {
        var artifact: Artifact?
        if let bytes = exchange.artifact {
            age(&look)
            activeKey("sealing key", settings.exchange.keys.sealing.active?.id, &look.walk)
            artifact = self.artifact(bytes, app: app, &look.walk)
            signingKey(app, &look.walk)
        } else {
            if look.state.key == nil {
                let id = look.record.installationID ?? ExactText(keyID.base64)
                rollout(app, id: id, &look.walk)
            }
            age(&look)
            if look.state.key == nil { rate(app, look.state.attestationRate, &look) }
            signingKey(app, &look.walk)
            if settings.exchange.mints {
                activeKey("sealing key", settings.exchange.keys.sealing.active?.id, &look.walk)
            }
        }
        challenge(exchange.challenge, app: app, &look)
        return artifact
    }

    private func challenge(_ request: Request, _ look: inout SecondLook) {
        age(&look)
        let isSealed = settings.exchange.challenges.mode == .sealed
        let mode = settings.exchange.challenges.mode.rawValue
        let row = Comparison("challenges.mode", mode, expected: ChallengeSettings.Mode.sealed.rawValue)
        look.walk.add("challenges", isSealed, else: .unknownMethod, row)
        if look.record.isAttestationHandshake, let id = look.record.installationID, let app = request.appIndex {
            rollout(app, id: id, &look.walk)
            rate(app, look.state.challengeRate, &look)
        }
        guard settings.exchange.mints else { return }
        activeKey("challenge key", settings.exchange.keys.challenges.active?.id, &look.walk)
    }

    private func debugToken(_ hash: Digest?, _ request: Request, _ look: inout SecondLook) {
        age(&look)
        guard let app = request.appIndex else { return }
        let tokens = settings.registry.apps[app].debugTokens
        let known = settings.registry.apps[app].debugToken(hash)
        let presented = hash == nil ? "no random UUID" : known.map(\.name) ?? "another one"
        let names = "one of " + tokens.map(\.name).joined(separator: ", ")
        let row = Comparison("debug token", presented, expected: names)
        look.walk.add("debug token", known != nil, else: .debugTokenInvalid, row)
        if let until = known?.until {
            let expected = "before \(ReportValue.time(until))"
            let row = Comparison("debug token's end", .time(look.time), expected: .text(expected))
            look.walk.add("debug token's end", look.time < until, else: .debugTokenExpired, row)
        }
        signingKey(app, &look.walk)
    }

    // MARK: Gates

    private func rollout(_ app: Int, id: ExactText, _ walk: inout CheckWalk) {
        let rollout = settings.registry.apps[app].rollout
        guard let decision = rollout.decide(id: id) else {
            return walk.skip("rollout", "the app has none")
        }
        let bucket = "bucket \(decision.bucket) of \(Rollout.whole)"
        let share = rollout.parts > 0 ? "bucket at most \(decision.parts), \(percent(decision.parts)) %" : "none: 0 %"
        let row =
            decision.list.map {
                Comparison("test device", "in rollout.\($0.rawValue)", expected: "not in rollout.never")
            }
            ?? Comparison("rollout bucket", bucket, expected: share)
        walk.add("rollout", decision.isAdmitted, else: .rolloutNotAdmitted, row)
    }

    private func percent(_ parts: Int64) -> String { Rollout.percentText(parts) }

    private func rate(_ app: Int, _ known: RateCount?, _ look: inout SecondLook) {
        let limit = settings.registry.apps[app].attestationsPerSecond
        guard limit > 0 else { return look.walk.skip("rate", "the app has no attestationsPerSecond") }
        let partitions = settings.exchange.partitions
        guard partitions > 0 else { return look.walk.skip("rate", "a replay applies no rate") }
        let window = known.map {
            RateWindow(second: $0.start.milliseconds / 1000, count: Int64(clamping: $0.count))
        }
        let admitted = RateWindow.admit(
            window,
            at: look.time,
            limit: limit,
            partition: look.record.record.partition,
            partitions: partitions
        )
        let count = known.map { "\($0.count) admitted since \(ReportValue.time($0.start))" } ?? "none admitted"
        let expected = "a place among \(limit) a second, shared by \(partitions) partitions"
        look.walk.add("rate", admitted != nil, else: .attestationRate, Comparison("rate", count, expected: expected))
    }

    // MARK: Keys of the worker

    private func signingKey(_ app: Int, _ walk: inout CheckWalk) {
        guard settings.exchange.mints else { return walk.skip("signing key", "nothing is minted") }
        let algorithm = settings.registry.apps[app].tokens.algorithm
        let kid = settings.exchange.keys.tokens.active(algorithm)?.kid
        let row = Comparison("signing key", kid ?? "none", expected: "an active key for \(algorithm.rawValue)")
        walk.add("signing key", kid != nil, else: .noActiveKey, row)
    }

    func activeKey(_ name: String, _ id: SealingKeyID?, _ walk: inout CheckWalk) {
        let presented = id.map { "\(ReportValue.bytes($0.bytes))" } ?? "none"
        let row = Comparison("active \(name)", presented, expected: "one in worker.json, with its file")
        walk.add("active \(name)", id != nil, else: .noActiveKey, row)
    }
}
