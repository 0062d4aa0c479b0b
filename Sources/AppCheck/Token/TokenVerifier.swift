package import AppAttest
internal import Crypto
internal import JSON

/// Verifies tokens for verifyAppCheckToken: makes every check of firebase_admin, and some that it omits.
package struct TokenVerifier: Sendable {
    let keys: VerificationKeys
    /// How far `iat` and `nbf` may lie ahead.
    let leewaySeconds: Int64

    /// Judges by the brokers' times.
    package init(keys: TokenKeyRing) { (self.keys, leewaySeconds) = (keys.verification, 10) }
    /// Judges by the clock of a machine, which may be off as far as its gateway is ready.
    package init(publicKeys: VerificationKeys) { (keys, leewaySeconds) = (publicKeys, ClockTolerance.seconds) }

    /// - Parameters:
    ///   - project: by number, with its id where it has one.
    ///   - time: the record's. `exp` must lie after it, without leeway: a used token is forgotten then. `iat` and `nbf`
    ///     may lie ``leewaySeconds`` ahead of it: the clocks of brokers and workers differ.
    ///   - isSubject: whether the `sub` is an app of this project, or an OAuth client linked to one, and may have such
    ///     a token.
    /// - Returns: the claims, or `token-invalid`; `no-active-key` where the token names a key whose file is absent.
    package func verify(
        _ token: [UInt8],
        projectNumber: String,
        projectID: String?,
        at time: EvaluationTime,
        isSubject: (TokenClaims) -> Bool
    ) -> Result<TokenClaims, Reason> {
        judge(token, projectNumber: projectNumber, projectID: projectID, at: time, isSubject: isSubject)
            .mapError(\.reason)
    }

    /// Verifies like the above, and returns the first check that fails.
    func judge(
        _ token: [UInt8],
        projectNumber: String,
        projectID: String?,
        at time: EvaluationTime,
        isSubject: (TokenClaims) -> Bool
    ) -> Result<TokenClaims, TokenFault> {
        Result { () throws(TokenFault) in
            guard let unverified = UnverifiedToken(token) else { throw .malformed }
            if let kid = unverified.header["kid"]?.string, keys.isAbsent(kid) { throw .absentKey }
            try checkSignature(unverified)
            guard let claims = Self.claims(unverified.payload, projectNumber: projectNumber, projectID: projectID)
            else { throw .claims }
            try checkTimes(claims, unverified.payload, at: time)
            guard isSubject(claims) else { throw .app }
            return claims
        }
    }

    /// The key determines the algorithm, never the token alone; critical extensions (RFC 7515, 4.1.11) are unknown.
    private func checkSignature(_ token: UnverifiedToken) throws(TokenFault) {
        guard let kid = token.header["kid"]?.stringBytes, let key = keys[kid],
            token.header["typ"]?.holds("JWT".utf8Span.span) == true,
            token.header["alg"]?.holds(key.algorithm.rawValue.utf8Span.span) == true,
            token.header["crit"] == nil
        else { throw .key }
        guard key.publicKey.isValid(token.signature, of: token.signingInput) else { throw .signature }
    }

    private static func claims(_ payload: JSONNode, projectNumber: String, projectID: String?) -> TokenClaims? {
        guard let subject = payload["sub"]?.string, !subject.isEmpty,
            let audiences = payload["aud"], audiences.kind == .array,
            let issuer = payload["iss"]?.string, let id = payload["jti"]?.string,
            (1...maxIDBytes).contains(id.utf8.count),
            let expiresAt = payload["exp"]?.integer, let issuedAt = payload["iat"]?.integer
        else { return nil }
        // Tokens of other providers are not ours; old ones name no provider.
        let isDebug = payload["provider"]?.holds(TokenClaims.debugProvider.utf8Span.span) == true
        let isOurs = payload["provider"].map { $0.holds(TokenClaims.provider.utf8Span.span) } ?? true
        guard isOurs || isDebug else { return nil }
        let claims = TokenClaims(
            subject: subject,
            projectNumber: projectNumber,
            projectID: projectID,
            issuedAt: issuedAt,
            expiresAt: expiresAt,
            id: id,
            isDebug: isDebug
        )
        let named = audiences.elements.map(\.string)
        guard !named.contains(nil), claims.audiences.contains(where: { named.contains($0) }), issuer == claims.issuer
        else { return nil }
        return claims
    }

    private func checkTimes(
        _ claims: TokenClaims,
        _ payload: JSONNode,
        at time: EvaluationTime
    ) throws(TokenFault) {
        // Rounding the time down to whole seconds keeps the comparison exact.
        let now = time.milliseconds / 1000 - (time.milliseconds % 1000 < 0 ? 1 : 0)
        let latest = now + leewaySeconds
        guard claims.issuedAt < claims.expiresAt else { throw .claims }
        guard claims.expiresAt > now else { throw .expired }
        guard claims.issuedAt <= latest else { throw .ahead }
        guard let notBefore = payload["nbf"] else { return }
        guard let seconds = notBefore.integer else { throw .claims }
        guard seconds <= latest else { throw .ahead }
    }

    /// RFC 7519 sets no limit; Google accepts a `jti` of at most 250 bytes.
    private static let maxIDBytes = 250
}

/// How far a gateway's clock may be off: a token may begin so much later than now, and a gateway that is further off the
/// brokers takes no calls. One figure, so that a gateway that is ready also accepts fresh tokens.
package enum ClockTolerance {
    package static let seconds: Int64 = 60
    package static let milliseconds = 1_000 * seconds
}
