/// How an app's tokens are made.
package struct TokenSettings: Sendable, Equatable {
    package enum Algorithm: String, Sendable, CaseIterable { case rs256 = "RS256", es256 = "ES256" }
    /// The life of a token in milliseconds: 30 minutes to 7 days.
    package static let ttlRange: ClosedRange<Int64> = 1_800_000...604_800_000

    package var ttlMilliseconds: Int64
    package var algorithm: Algorithm
    package var sharedSessionTokens: Bool
    package var sessionTokens: SessionTokenPolicy

    /// Whether verifyAppCheckToken uses up a session token. One that many devices share belongs to none of them.
    package var consumesSessionTokens: Bool { sessionTokens == .accept && !sharedSessionTokens }

    package init(
        ttlMilliseconds: Int64 = 3_600_000,
        algorithm: Algorithm = .rs256,
        sharedSessionTokens: Bool = false,
        sessionTokens: SessionTokenPolicy = .accept
    ) {
        self.ttlMilliseconds = ttlMilliseconds
        self.algorithm = algorithm
        self.sharedSessionTokens = sharedSessionTokens
        self.sessionTokens = sessionTokens
    }
}

/// The policy of verifyAppCheckToken on session tokens, which live for up to seven days.
package enum SessionTokenPolicy: String, Sendable, CaseIterable { case accept, refuse }
