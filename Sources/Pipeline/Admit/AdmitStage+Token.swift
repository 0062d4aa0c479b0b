internal import AppAttest
internal import AppCheck
internal import Crypto

/// verifyAppCheckToken: a limited-use token is used up once; the state is (project, `jti`) until the token expires.
extension AdmitStage {
    func token(_ item: Admission, _ state: inout BatchState) -> Verdict {
        var verdict = Verdict(outcome: .accepted)
        guard case .project(let number) = item.request.resource, let claimed = item.request.unverifiedTokenID else {
            return Verdict(outcome: .deadLetter(.internal))
        }
        let id = SHA256.hash(number.utf8Span.span, ([0] + claimed).span)
        let consumed = state.token(id, on: item.partition)
        // The same request once more: the same answer. Only as long as the use is certain to be remembered, or the answer
        // would depend on when the ledger forgets it.
        if let consumed, consumed.request == item.digest, state.streamTime(of: item.partition) < consumed.expiresAt {
            verdict.isRepeated = true
            verdict.order = .verification(alreadyConsumed: false)
            return verdict
        }
        do throws(Reason) {
            let claims: TokenClaims
            switch item.finding {
            case .outOfTime(let reason): throw reason
            // Without a key no token can be told from a forged one: its holder is not to blame.
            case .token where settings.exchange.keys.tokens.keys.isEmpty: throw .noActiveKey
            case .token(let found): claims = try found.get()
            case .shapeOnly, .attestation, .assertion, .withoutKey, .exchange: throw .tokenInvalid
            }
            // A session token is made to be used many times.
            guard claims.isLimitedUse else { throw .tokenInvalid }
            let expiry = EvaluationTime(milliseconds: claims.expiresAt * 1000)
            // Where a record's time lies behind the stream's, its use may be forgotten already.
            guard state.streamTime(of: item.partition) < expiry else { throw .tokenInvalid }
            if consumed == nil {
                state.consume(token: id, ConsumedID(expiresAt: expiry, request: item.digest), on: item.partition)
            }
            verdict.order = .verification(alreadyConsumed: consumed != nil)
            return verdict
        } catch { return refuse(item, error, verdict) }
    }
}
