package import AppAttest
internal import Crypto
internal import JSON

/// The checks of an App Check token, with what it has beside what verifyAppCheckToken needs. The token itself, and its
/// signature, are never shown.
extension TokenVerifier {
    /// In an order in which a person looks; every failure is `token-invalid`, or `no-active-key` for an absent key.
    package func checks(
        _ token: [UInt8],
        projectNumber: String,
        projectID: String?,
        at time: EvaluationTime,
        apps: [RegisteredApp]
    ) -> [RequestCheck] {
        guard let unverified = UnverifiedToken(token) else {
            let expected = "three parts of base64url: two JSON objects and a signature"
            return [Self.check("form", false, "\(Counted.text(token.count, "byte")) of another form", expected)]
        }
        let payload = unverified.payload
        let claims = TokenClaims(
            subject: "",
            projectNumber: projectNumber,
            projectID: projectID,
            issuedAt: payload["iat"]?.integer ?? 0,
            expiresAt: payload["exp"]?.integer ?? 0,
            id: ""
        )
        var checks = signatureChecks(unverified)
        func add(_ name: StaticString, _ isMet: Bool, _ expected: String) {
            checks.append(Self.check("\(name)", isMet, Self.text(payload[name]), expected))
        }
        add("iss", Self.holds(payload["iss"], claims.issuer), claims.issuer)
        let audiences = payload["aud"]?.elements ?? []
        let isForUs = claims.audiences.contains { name in audiences.contains { Self.holds($0, name) } }
        let names = claims.audiences.joined(separator: " or ")
        add("aud", payload["aud"]?.kind == .array && isForUs, names)
        add(
            "sub",
            apps.contains { app in Self.isSubject(payload, app) },
            "an app or OAuth client of projects/\(projectNumber)"
        )
        let provider = payload["provider"]
        let isDebug = Self.holds(provider, TokenClaims.debugProvider)
        let mayBeDebug = apps.contains { !$0.debugTokens.isEmpty && Self.isSubject(payload, $0) }
        add(
            "provider",
            provider == nil || Self.holds(provider, TokenClaims.provider) || (isDebug && mayBeDebug),
            "\(TokenClaims.provider), or none; \(TokenClaims.debugProvider) for an app with debugTokens"
        )
        checks += timeChecks(payload, at: time)
        return checks
    }

    private func signatureChecks(_ token: UnverifiedToken) -> [RequestCheck] {
        let header = token.header
        let kid = header["kid"]?.string
        if let kid, keys.isAbsent(kid) {
            let row = Comparison("kid", kid, expected: "a key whose file is there")
            return [RequestCheck(name: "kid", failure: .noActiveKey, comparison: row)]
        }
        let key = kid.flatMap { keys[$0] }
        let known = keys.kids.map(\.description)
        let isRevoked = kid.map { keys.isRevoked($0) } ?? false
        let listed = known.isEmpty ? "no key is listed" : "one of " + known.joined(separator: ", ")
        var checks = [
            Self.check("kid", key != nil, (kid ?? "absent") + (isRevoked ? " (revoked)" : ""), listed),
            Self.check("typ", Self.holds(header["typ"], "JWT"), Self.text(header["typ"]), "JWT"),
            Self.check("crit", header["crit"] == nil, header["crit"] == nil ? "absent" : "present", "absent"),
        ]
        guard let key else { return checks }
        let algorithm = key.algorithm.rawValue
        checks.append(Self.check("alg", Self.holds(header["alg"], algorithm), Self.text(header["alg"]), algorithm))
        let isValid = key.publicKey.isValid(token.signature, of: token.signingInput)
        checks.append(Self.check("signature", isValid, isValid ? "valid" : "not valid", "valid under \(key.kid)"))
        return checks
    }

    private func timeChecks(_ payload: JSONNode, at time: EvaluationTime) -> [RequestCheck] {
        let now = time.milliseconds / 1000 - (time.milliseconds % 1000 < 0 ? 1 : 0)
        let latest = now + leewaySeconds
        let (issued, expires) = (payload["iat"]?.integer, payload["exp"]?.integer)
        var checks = [
            Self.check("exp", expires.map { $0 > now } ?? false, Self.text(payload["exp"]), "after \(now)"),
            Self.check(
                "iat",
                issued.map { $0 <= latest && $0 < expires ?? $0 } ?? false,
                Self.text(payload["iat"]),
                "at most \(latest), and before exp"
            ),
        ]
        if let notBefore = payload["nbf"] {
            let isMet = notBefore.integer.map { $0 <= latest } ?? false
            checks.append(Self.check("nbf", isMet, Self.text(notBefore), "at most \(latest)"))
        }
        return checks
    }

    private static func check(_ name: String, _ isMet: Bool, _ presented: String, _ expected: String) -> RequestCheck {
        let row = Comparison(name, presented, expected: expected)
        return RequestCheck(name: name, failure: isMet ? nil : .tokenInvalid, comparison: row)
    }

    private static func isSubject(_ payload: JSONNode, _ app: RegisteredApp) -> Bool {
        ([app.appID] + app.oauthClientIDs).contains { holds(payload["sub"], $0) }
    }

    /// Compared as bytes: the text is the sender's.
    private static func holds(_ node: JSONNode?, _ text: String) -> Bool { node?.holds(text.utf8Span.span) ?? false }

    private static let mostShown = 300

    private static func text(_ node: JSONNode?) -> String {
        guard let node else { return "absent" }
        if node.kind == .array { return node.elements.map { text($0) }.joined(separator: ", ") }
        return node.string.map { String($0.prefix(mostShown)) } ?? node.integer.map(String.init)
            ?? "a value of another type"
    }
}
