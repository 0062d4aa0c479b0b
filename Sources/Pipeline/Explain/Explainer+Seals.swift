internal import AppAttest
internal import AppCheck
internal import Crypto

/// The worker's own challenge, artifact and token in a request. None of their bytes is shown.
extension Explainer {
    func artifact(_ bytes: [UInt8], app: Int, _ walk: inout CheckWalk) -> Artifact? {
        let ring = settings.exchange.keys.sealing
        let opened = ring.open(bytes)
        let known = ring.keys.map { "\(ReportValue.bytes($0.id.bytes))" }
        let named = Artifact.sealingKeyID(of: bytes)
        let isListed = named.map { ring[$0] != nil } ?? false
        let sealer =
            named.map { "sealed under key \(ReportValue.bytes($0.bytes))" }
            ?? "no artifact: \(Counted.text(bytes.count, "byte"))"
        let expected = known.isEmpty ? "a listed key; none is" : "one of " + known.joined(separator: ", ")
        var failure: Reason?
        if case .failure(let reason) = opened { failure = reason }
        let row = Comparison(
            "artifact's key",
            isListed && failure != nil ? sealer + ", changed since" : sealer,
            expected: expected
        )
        walk.add("artifact", failure, row)
        guard let artifact = try? opened.get() else { return nil }
        let name = settings.registry.apps[app].name
        walk.add(
            "artifact's app",
            artifact.app == name,
            else: .artifactInvalid,
            Comparison("artifact's app", artifact.app, expected: name)
        )
        walk.add(
            "artifact's environment",
            settings.registry.apps[app].expectations.accepts(artifact.environment),
            else: .artifactInvalid,
            Comparison(
                "artifact's environment",
                .text(artifact.environment.rawValue),
                expected: .text(environments(app))
            )
        )
        return artifact
    }

    func environments(_ app: Int) -> String {
        let expectations = settings.registry.apps[app].expectations
        return Environment.allCases.filter { expectations.accepts($0) }.map(\.rawValue).joined(separator: " or ")
    }

    func challenge(_ bytes: [UInt8], app: Int, _ look: inout SecondLook) {
        guard settings.exchange.challenges.mode == .sealed else {
            return look.walk.skip("challenge", "the gateway judges challenges: challenges.mode is external")
        }
        let ring = settings.exchange.keys.challenges
        activeKey("challenge key", ring.active?.id, &look.walk)
        let name = settings.registry.apps[app].name
        let authenticated = ring.authenticate(bytes, app: name)
        var failure: Reason?
        if case .failure(let reason) = authenticated { failure = reason }
        let seal = Comparison(
            "challenge's seal",
            sealer(bytes, isValid: failure == nil),
            expected: "by a listed key for \(name)"
        )
        look.walk.add("challenge", failure, seal)
        guard let issuedAt = try? authenticated.get() else { return }
        life(issuedAt, &look)
        let used = look.state.challenge
        let presented = used.map { "used; remembered until \(ReportValue.time($0.expiresAt))" } ?? "not used"
        look.walk.add(
            "challenge's use",
            used == nil,
            else: .challengeConsumed,
            Comparison("challenge's use", presented, expected: "not used with this key")
        )
    }

    /// For which app a challenge was sealed, or why that is not known.
    private func sealer(_ bytes: [UInt8], isValid: Bool) -> String {
        guard let claimed = UnverifiedChallenge(bytes) else {
            return "none: \(Counted.text(bytes.count, "byte")) of another form"
        }
        let ring = settings.exchange.keys.challenges
        let key = "by key \(ReportValue.bytes(claimed.keyID.bytes))"
        guard ring[claimed.keyID] != nil else { return "\(key), which is not listed" }
        let owner = settings.registry.apps.first { app in
            if case .success = ring.authenticate(bytes, app: app.name) { return true }
            return false
        }
        return owner.map { "\(key) for \($0.name)" } ?? "\(key), changed since, or for no configured app"
    }

    private func life(_ issuedAt: EvaluationTime, _ look: inout SecondLook) {
        let ttl = settings.exchange.challenges.ttlMilliseconds
        let judged = OpenedChallenge.judge(issuedAt: issuedAt, ttl: ttl, at: look.state.streamTime)
        var failure: Reason?
        if case .failure(let reason) = judged { failure = reason }
        let (age, overflow) = look.state.streamTime.milliseconds.subtractingReportingOverflow(issuedAt.milliseconds)
        let text = overflow ? "beyond all calendars" : "\(Self.seconds(age)) s old"
        let ahead = SecretRing<ChallengeKey>.toleranceMilliseconds
        look.walk.add(
            "challenge's age",
            failure,
            Comparison(
                "challenge's age",
                "\(text), issued \(ReportValue.time(issuedAt))",
                expected: "less than \(Self.seconds(ttl)) s, at most \(Self.seconds(ahead)) s ahead, "
                    + "at the stream time \(ReportValue.time(look.state.streamTime))"
            )
        )
    }

    private static func seconds(_ milliseconds: Int64) -> String {
        let (whole, rest) = milliseconds.quotientAndRemainder(dividingBy: 1000)
        guard rest != 0 else { return "\(whole)" }
        let digits = String(1000 + rest.magnitude).dropFirst()
        return (milliseconds < 0 && whole == 0 ? "-" : "") + "\(whole).\(digits)"
    }

    func token(_ token: [UInt8], _ request: Request, _ look: inout SecondLook) {
        guard case .project(let number) = request.resource else { return }
        age(&look)
        let keys = settings.exchange.keys.tokens
        let listed = Comparison("signing keys", keys.isEmpty ? "none" : "listed", expected: "listed in worker.json")
        look.walk.add("signing keys", !keys.isEmpty, else: .noActiveKey, listed)
        let apps = settings.registry.apps.filter { $0.projectNumber == number }
        let isSubject: (TokenClaims) -> Bool = { claims in apps.contains { $0.mayHold(claims) } }
        let project = apps.first?.projectID
        look.walk.add(
            tokens.checks(
                token,
                projectNumber: number,
                projectID: project,
                at: look.time,
                apps: apps
            )
        )
        let found = tokens.verify(token, projectNumber: number, projectID: project, at: look.time, isSubject: isSubject)
        guard let claims = try? found.get() else { return }
        if !claims.isLimitedUse { session(claims, number, &look) }
        let expiry = EvaluationTime(seconds: claims.expiresAt)
        let row = Comparison(
            "stream time",
            .time(look.state.streamTime),
            expected: .text("before exp, \(ReportValue.time(expiry))")
        )
        look.walk.add("stream time", look.state.streamTime < expiry, else: .tokenInvalid, row)
        if !claims.isLimitedUse, look.state.token == nil { remembered(&look) }
    }

    private func session(_ claims: TokenClaims, _ project: String, _ look: inout SecondLook) {
        let life = claims.expiresAt.clampedSubtracting(claims.issuedAt)
        let range = TokenSettings.ttlRange
        let expected = "300 s, or \(range.lowerBound / 1000) to \(range.upperBound / 1000) s"
        let row = Comparison("life", "\(life) s", expected: expected)
        look.walk.add("life", claims.times.isSession, else: .tokenInvalid, row)
        let subject = ExactText(claims.subject)
        let registry = settings.registry
        let app = registry.find(project: ExactText(project), app: subject) ?? registry.find(oauthClient: subject)
        let consumes = app.map { registry.apps[$0].tokens.consumesSessionTokens } ?? false
        look.walk.add(
            "kind of token",
            consumes,
            else: .sessionToken,
            Comparison(
                "kind of token",
                "a session token",
                expected: consumes ? "a token" : "a limited-use token: the app's session tokens are not used up"
            )
        )
    }

    private func remembered(_ look: inout SecondLook) {
        let (count, limit) = (look.state.rememberedTokens, settings.limits.sessionTokens)
        let row = Comparison("remembered tokens", "\(count)", expected: "fewer than \(limit) (limits.sessionTokens)")
        look.walk.add("remembered tokens", count < limit, else: .sessionToken, row)
    }
}
