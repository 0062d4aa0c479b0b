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
    /// - Returns: the claims, or the first check that fails.
    package func verify(
        _ token: [UInt8],
        projectNumber: String,
        projectID: String?,
        at time: EvaluationTime,
        isSubject: (TokenClaims) -> Bool
    ) -> Result<TokenClaims, TokenFault> {
        Result { () throws(TokenFault) in
            try judge(token, projectNumber, projectID, at: time, NoTrace(), isSubject: isSubject)
        }
    }

    /// The token itself, and its signature, are never shown.
    func judge(
        _ token: [UInt8],
        _ projectNumber: String,
        _ projectID: String?,
        at time: EvaluationTime,
        _ trace: some CheckTracer,
        isSubject: (TokenClaims) -> Bool
    ) throws(TokenFault) -> TokenClaims {
        guard let unverified = UnverifiedToken(token) else {
            throw trace.failed("form", .malformed) {
                let expected = "three parts of base64url: two JSON objects and a signature"
                return Comparison("form", "\(Counted.text(token.count, "byte")) of another form", expected: expected)
            }
        }
        try checkSignature(unverified, trace)
        let claims = try Self.claims(unverified.payload, projectNumber, projectID, trace)
        try checkTimes(unverified.payload, at: time, trace)
        func subject() -> Comparison {
            let expected = "an app or OAuth client of projects/\(projectNumber)"
            return Comparison("sub", Self.text(unverified.payload["sub"]), expected: expected)
        }
        guard isSubject(claims) else {
            var other = claims
            other.isDebug = false
            guard claims.isDebug, isSubject(other) else { throw trace.failed("sub", .app) { subject() } }
            trace.passed("sub") { subject() }
            throw trace.failed("provider", .app) { Self.provider(unverified.payload) }
        }
        trace.passed("sub") { subject() }
        return claims
    }

    /// The key determines the algorithm, never the token alone; critical extensions (RFC 7515, 4.1.11) are unknown.
    private func checkSignature(_ token: UnverifiedToken, _ trace: some CheckTracer) throws(TokenFault) {
        let header = token.header
        if let kid = header["kid"]?.string, keys.isAbsent(kid) {
            throw trace.failed("kid", .absentKey) { Comparison("kid", kid, expected: "a key whose file is there") }
        }
        func known() -> Comparison {
            let isRevoked = header["kid"]?.string.map { keys.isRevoked($0) } ?? false
            let presented = Self.text(header["kid"]) + (isRevoked ? " (revoked)" : "")
            return Comparison(
                "kid",
                .text(presented),
                expected: .list(keys.kids.map(\.shown), none: "no key is listed")
            )
        }
        guard let kid = header["kid"]?.stringBytes, let key = keys[kid] else {
            throw trace.failed("kid", .unknownKey) { known() }
        }
        trace.passed("kid") { known() }
        func check(_ name: StaticString, _ expected: String) throws(TokenFault) {
            try trace.check("\(name)", header[name]?.holds(expected.utf8Span.span) ?? false, else: TokenFault.algorithm)
            {
                Comparison("\(name)", Self.text(header[name]), expected: expected)
            }
        }
        try check("typ", "JWT")
        try trace.check("crit", header["crit"] == nil, else: TokenFault.algorithm) {
            Comparison("crit", header["crit"] == nil ? "absent" : "present", expected: "absent")
        }
        try check("alg", key.algorithm.rawValue)
        let isValid = key.publicKey.isValid(token.signature, of: token.signingInput)
        try trace.check("signature", isValid, else: TokenFault.signature) {
            Comparison("signature", isValid ? "valid" : "not valid", expected: "valid under \(key.kid)")
        }
    }

    private static func claims(
        _ payload: JSONNode,
        _ projectNumber: String,
        _ projectID: String?,
        _ trace: some CheckTracer
    ) throws(TokenFault) -> TokenClaims {
        // Tokens of other providers are not ours; old ones name no provider.
        let isDebug = payload["provider"]?.holds(TokenClaims.debugProvider.utf8Span.span) == true
        let claims = TokenClaims(
            subject: payload["sub"]?.string ?? "",
            projectNumber: projectNumber,
            projectID: projectID,
            issuedAt: payload["iat"]?.integer ?? 0,
            expiresAt: payload["exp"]?.integer ?? 0,
            id: payload["jti"]?.string ?? "",
            isDebug: isDebug
        )
        try trace.check("iss", payload["iss"]?.string == claims.issuer, else: TokenFault.issuer) {
            Comparison("iss", text(payload["iss"]), expected: claims.issuer)
        }
        let named = payload["aud"]?.elements.map(\.string) ?? []
        let isForUs = payload["aud"]?.kind == .array && !named.contains(nil)
        let audiences = claims.audiences
        try trace.check("aud", isForUs && audiences.contains { named.contains($0) }, else: TokenFault.audience) {
            Comparison("aud", text(payload["aud"]), expected: audiences.joined(separator: " or "))
        }
        let isOurs = payload["provider"].map { $0.holds(TokenClaims.provider.utf8Span.span) } ?? true
        try trace.check("provider", isOurs || isDebug, else: TokenFault.claims) { provider(payload) }
        guard !claims.subject.isEmpty else {
            throw trace.failed("sub", .claims) { Comparison("sub", text(payload["sub"]), expected: "a name") }
        }
        guard (1...maxIDBytes).contains(claims.id.utf8.count) else {
            let expected = "a text of 1 to \(maxIDBytes) bytes"
            throw trace.failed("jti", .claims) { Comparison("jti", text(payload["jti"]), expected: expected) }
        }
        return claims
    }

    private func checkTimes(
        _ payload: JSONNode,
        at time: EvaluationTime,
        _ trace: some CheckTracer
    ) throws(TokenFault) {
        // Rounding the time down to whole seconds keeps the comparison exact.
        let now = time.milliseconds / 1000 - (time.milliseconds % 1000 < 0 ? 1 : 0)
        let latest = now + leewaySeconds
        func row(_ name: StaticString, _ expected: String) -> Comparison {
            Comparison("\(name)", Self.text(payload[name]), expected: expected)
        }
        func expiry() -> Comparison { row("exp", "after \(now)") }
        func issue() -> Comparison { row("iat", "at most \(latest), and before exp") }
        func beginning() -> Comparison { row("nbf", "at most \(latest)") }
        guard let expiresAt = payload["exp"]?.integer else { throw trace.failed("exp", .claims) { expiry() } }
        guard let issuedAt = payload["iat"]?.integer, issuedAt < expiresAt else {
            throw trace.failed("iat", .claims) { issue() }
        }
        try trace.check("exp", expiresAt > now, else: TokenFault.expired) { expiry() }
        try trace.check("iat", issuedAt <= latest, else: TokenFault.ahead) { issue() }
        guard let notBefore = payload["nbf"] else { return }
        guard let seconds = notBefore.integer else { throw trace.failed("nbf", .claims) { beginning() } }
        try trace.check("nbf", seconds <= latest, else: TokenFault.ahead) { beginning() }
    }

    private static func provider(_ payload: JSONNode) -> Comparison {
        let (own, debug) = (TokenClaims.provider, TokenClaims.debugProvider)
        let expected = "\(own), or none; \(debug) for an app with debugTokens"
        return Comparison("provider", text(payload["provider"]), expected: expected)
    }

    private static var mostShown: Int { 300 }

    static func text(_ node: JSONNode?) -> String {
        guard let node else { return "absent" }
        if node.kind == .array { return node.elements.map { text($0) }.joined(separator: ", ") }
        return node.string.map { String($0.prefix(mostShown)) } ?? node.integer.map(String.init)
            ?? "a value of another type"
    }

    /// RFC 7519 sets no limit; Google accepts a `jti` of at most 250 bytes.
    private static let maxIDBytes = 250
}

/// How far a gateway's clock may be off, and a worker's ahead: a token may begin so much later than now, a gateway that is
/// further off the brokers takes no calls, and a worker that is further ahead judges nothing. One figure, so that a gateway
/// that is ready also accepts fresh tokens.
package enum ClockTolerance {
    package static let seconds: Int64 = 60
    package static let milliseconds = 1_000 * seconds

    /// The earliest time that counts as a broker's, in September 2001: librdkafka's mock cluster says 1234.
    package static let firstTime: Int64 = 1_000_000_000_000
}
