/// The claims of an App Check token.
package struct TokenClaims: Hashable, Sendable {
    /// Seconds from `iat` to `exp` of every limited-use token, and of no other: session tokens live 1,800 at least.
    package static let limitedUseSeconds: Int64 = 300
    package static let issuerPrefix = "https://firebaseappcheck.googleapis.com/"
    package static let provider = "device_check_app_attest"
    /// The provider of tokens that were minted for a debug token, without a device.
    package static let debugProvider = "debug"

    /// The app id, or the OAuth client's id.
    package var subject: String
    package var projectNumber: String
    package var projectID: String?
    /// Seconds since 1970.
    package var issuedAt: Int64
    /// Seconds since 1970.
    package var expiresAt: Int64
    /// `jti`: 43 characters where the worker made it.
    package var id: String
    /// Whether the token was minted without a device.
    package var isDebug: Bool

    package init(
        subject: String,
        projectNumber: String,
        projectID: String?,
        issuedAt: Int64,
        expiresAt: Int64,
        id: String,
        isDebug: Bool = false
    ) {
        (self.subject, self.projectNumber, self.projectID) = (subject, projectNumber, projectID)
        (self.issuedAt, self.expiresAt) = (issuedAt, expiresAt)
        (self.id, self.isDebug) = (id, isDebug)
    }

    /// Such a token can be consumed whatever the app's policy on session tokens.
    package var isLimitedUse: Bool { times.isLimitedUse }

    package var times: TokenTimes { TokenTimes(issuedAt: issuedAt, expiresAt: expiresAt) }

    /// The first audience, `projects/{number}`, then `projects/{id}` where the project has one.
    package var audiences: [String] { ([projectNumber] + (projectID.map { [$0] } ?? [])).map { "projects/\($0)" } }
    package var provider: String { isDebug ? Self.debugProvider : Self.provider }
    package var issuer: String { Self.issuerPrefix + projectNumber }
}
