package import AppAttest
internal import JSON

extension TokenVerifier {
    /// As ``verify(_:projectNumber:projectID:at:isSubject:)``, for the registry's project that the token names as its
    /// issuer.
    package func verify(
        _ token: [UInt8],
        in registry: Registry,
        at time: EvaluationTime
    ) -> Result<TokenClaims, Reason> {
        guard let issuer = UnverifiedToken(token)?.payload["iss"]?.stringBytes,
            let app = registry.apps.first(where: { Self.isIssuer(issuer, $0.projectNumber) })
        else { return .failure(.tokenInvalid) }
        return verify(token, projectNumber: app.projectNumber, of: registry, at: time)
    }

    /// As above, for a project by its number.
    package func verify(
        _ token: [UInt8],
        projectNumber: String,
        of registry: Registry,
        at time: EvaluationTime
    ) -> Result<TokenClaims, Reason> {
        let apps = registry.apps.filter { $0.projectNumber == projectNumber }
        return verify(
            token,
            projectNumber: projectNumber,
            projectID: apps.first?.projectID,
            at: time,
            isSubject: { subject in apps.contains { $0.appID == subject || $0.oauthClientIDs.contains(subject) } }
        )
    }

    private static func isIssuer(_ issuer: [UInt8], _ number: String) -> Bool {
        issuer.elementsEqual((TokenClaims.issuerPrefix + number).utf8)
    }
}
