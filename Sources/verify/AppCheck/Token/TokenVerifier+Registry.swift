package import AppAttest
internal import JSON

extension TokenVerifier {
    /// Verifies like ``verify(_:projectNumber:projectID:at:isSubject:)``, for the registry's project that the token
    /// names as its issuer, and returns the first check that fails.
    package func judge(
        _ token: [UInt8],
        in registry: Registry,
        at time: EvaluationTime
    ) -> Result<TokenClaims, TokenFault> {
        guard let unverified = UnverifiedToken(token) else { return .failure(.malformed) }
        guard let issuer = unverified.payload["iss"]?.stringBytes,
            let app = registry.apps.first(where: { Self.isIssuer(issuer, $0.projectNumber) })
        else { return .failure(.issuer) }
        return judge(token, projectNumber: app.projectNumber, of: registry, at: time, NoTrace())
    }

    /// Verifies like ``verify(_:projectNumber:projectID:at:isSubject:)``, for a project by its number.
    package func verify(
        _ token: [UInt8],
        projectNumber: String,
        of registry: Registry,
        at time: EvaluationTime
    ) -> Result<TokenClaims, TokenFault> {
        judge(token, projectNumber: projectNumber, of: registry, at: time, NoTrace())
    }

    /// Verifies in the same way, check by check.
    package func judge(
        _ token: [UInt8],
        projectNumber: String,
        of registry: Registry,
        at time: EvaluationTime,
        _ trace: some CheckTracer
    ) -> Result<TokenClaims, TokenFault> {
        let apps = registry.apps.filter { $0.projectNumber == projectNumber }
        return Result { () throws(TokenFault) in
            try judge(token, projectNumber, apps.first?.projectID, at: time, trace) { claims in
                apps.contains { $0.mayHold(claims) }
            }
        }
    }

    /// The `kid` that a token names and the set does not have, unverified.
    ///
    /// - Returns: nil for a key of the set, and for a token that has expired or names no project of the registry.
    package func unknownKey(of token: [UInt8], in registry: Registry, at time: EvaluationTime) -> ExactText? {
        guard let token = UnverifiedToken(token), let issuer = token.payload["iss"]?.stringBytes,
            let kid = token.header["kid"]?.stringBytes, keys[kid] == nil,
            EvaluationTime(seconds: token.payload["exp"]?.integer ?? 0) > time,
            registry.apps.contains(where: { Self.isIssuer(issuer, $0.projectNumber) })
        else { return nil }
        return ExactText(validating: kid)
    }

    static func isIssuer(_ issuer: [UInt8], _ number: String) -> Bool {
        issuer.elementsEqual((TokenClaims.issuerPrefix + number).utf8)
    }
}

extension RegisteredApp {
    /// Whether a token of these claims can be this app's. One without a device is only where debug tokens are.
    package func mayHold(_ claims: TokenClaims) -> Bool {
        (appID == claims.subject || oauthClientIDs.contains(claims.subject))
            && (!claims.isDebug || !debugTokens.isEmpty)
    }
}
