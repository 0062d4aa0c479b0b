internal import AppAttest
internal import AppCheck
internal import Crypto

/// verifyAppCheckToken: a token is used up once; the state is (project, `jti`) until the token expires. Session tokens
/// live for up to seven days, so an app may refuse them, and a partition remembers a limited number of ids.
extension AdmitStage {
    func token(_ item: Admission<some CheckTracer>, _ state: inout BatchState) -> Verdict {
        var verdict = Verdict(outcome: .accepted)
        let trace = item.trace
        guard let request = item.record.request, case .project(let number) = request.resource,
            let claimed = request.unverifiedTokenID
        else {
            return Verdict(outcome: .deadLetter(.internal))
        }
        let id = Self.tokenID(project: number, claimed)
        let consumed = state.token(id, on: item.partition)
        // A redelivered request gets the same answer. Only while its use is certain to be remembered: else the answer
        // would depend on when the ledger forgets it.
        if let consumed, consumed.request == item.digest, state.streamTime(of: item.partition) < consumed.expiresAt {
            verdict.isRepeated = true
            verdict.order = .verification(alreadyConsumed: false)
            return verdict
        }
        do throws(Reason) {
            try checkBan(item, &state)
            try checkAge(item)
            // Without a key a genuine token looks like a forged one: its holder is not to blame.
            let hasKeys = !settings.exchange.keys.tokens.isEmpty
            try trace.check("signing keys", hasKeys, else: Reason.noActiveKey) {
                Comparison("signing keys", hasKeys ? "listed" : "none", expected: "listed in worker.json")
            }
            guard case .token(let found) = item.finding else { throw .tokenInvalid }
            let claims = try trace.noted("token", found.mapError(\.reason)) { nil }
            let isSession = try isSession(claims, project: number, trace)
            let expiry = EvaluationTime(seconds: claims.expiresAt)
            // If a record's time is before the stream time, its use may be forgotten already.
            let streamTime = state.streamTime(of: item.partition)
            try trace.check("stream time", streamTime < expiry, else: Reason.tokenInvalid) {
                let expected = "before exp, \(ReportValue.time(expiry))"
                return Comparison("stream time", .time(streamTime), expected: .text(expected))
            }
            if consumed == nil {
                if isSession {
                    let count = state.rememberedTokens(on: item.partition)
                    let limit = settings.limits.sessionTokens
                    verdict.sessionToken = count < limit ? .remembered : .overLimit
                    try trace.check("remembered tokens", count < limit, else: Reason.sessionToken) {
                        let expected = "fewer than \(limit) (limits.sessionTokens)"
                        return Comparison("remembered tokens", "\(count)", expected: expected)
                    }
                }
                state.consume(token: id, ConsumedID(expiresAt: expiry, request: item.digest), on: item.partition)
            }
            verdict.order = .verification(alreadyConsumed: consumed != nil)
            return verdict
        } catch { return refuse(item, error, verdict) }
    }

    /// The id that a used token is remembered by.
    static func tokenID(project: String, _ claimed: [UInt8]) -> Digest {
        SHA256.hash(project.utf8Span.span, ([0] + claimed).span)
    }

    /// - Throws: `session-token` where the app of the token's subject does not let session tokens be used up.
    private func isSession(
        _ claims: TokenClaims,
        project: String,
        _ trace: some CheckTracer
    ) throws(Reason) -> Bool {
        if claims.isLimitedUse { return false }
        // No configuration allows such a life: the key signed a token that this worker did not mint.
        try trace.check("life", claims.times.isSession, else: Reason.tokenInvalid) {
            let life = claims.expiresAt.clampedSubtracting(claims.issuedAt)
            let range = TokenSettings.ttlRange
            let expected = "300 s, or \(range.lowerBound / 1000) to \(range.upperBound / 1000) s"
            return Comparison("life", "\(life) s", expected: expected)
        }
        let registry = settings.registry
        let subject = ExactText(claims.subject)
        let app = registry.find(project: ExactText(project), app: subject) ?? registry.find(oauthClient: subject)
        let isUsedUp = app.map { registry.apps[$0].tokens.consumesSessionTokens } ?? false
        try trace.check("kind of token", isUsedUp, else: Reason.sessionToken) {
            let others = "a limited-use token: the app's session tokens are not used up"
            return Comparison("kind of token", "a session token", expected: isUsedUp ? "a token" : others)
        }
        return true
    }
}
