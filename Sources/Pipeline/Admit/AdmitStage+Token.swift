internal import AppAttest
internal import AppCheck
internal import Crypto

/// verifyAppCheckToken: a token is used up once; the state is (project, `jti`) until the token expires. Session tokens
/// live for up to seven days, so an app may refuse them, and a partition remembers a limited number of ids.
extension AdmitStage {
    func token(_ item: Admission, _ state: inout BatchState) -> Verdict {
        var verdict = Verdict(outcome: .accepted)
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
            let claims: TokenClaims
            switch item.finding {
            case .outOfTime(let reason): throw reason
            // Without a key a genuine token looks like a forged one: its holder is not to blame.
            case .token where settings.exchange.keys.tokens.isEmpty: throw .noActiveKey
            case .token(let found): claims = try found.get()
            case .shapeOnly, .attestation, .assertion, .withoutKey, .exchange: throw .tokenInvalid
            }
            let isSession = try isSession(claims, project: number)
            let expiry = EvaluationTime(seconds: claims.expiresAt)
            // If a record's time is before the stream time, its use may be forgotten already.
            guard state.streamTime(of: item.partition) < expiry else { throw .tokenInvalid }
            if consumed == nil {
                if isSession {
                    let count = state.rememberedTokens(on: item.partition)
                    verdict.sessionToken = count < settings.limits.sessionTokens ? .remembered : .overLimit
                    guard count < settings.limits.sessionTokens else { throw .sessionToken }
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
    private func isSession(_ claims: TokenClaims, project: String) throws(Reason) -> Bool {
        if claims.isLimitedUse { return false }
        // No configuration allows such a life: the key signed a token that this worker did not mint.
        guard claims.times.isSession else { throw .tokenInvalid }
        let registry = settings.registry
        let subject = ExactText(claims.subject)
        let app = registry.find(project: ExactText(project), app: subject) ?? registry.find(oauthClient: subject)
        guard let app, registry.apps[app].tokens.consumesSessionTokens else { throw .sessionToken }
        return true
    }
}
