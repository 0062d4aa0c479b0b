import AppAttest
import AppCheck
import TestKit

/// Tokens as a worker mints them.
enum Tokens {
    static func claims(limitedUse: Bool, at milliseconds: Int64 = ExchangeKit.start) -> TokenClaims {
        TokenClaims(
            subject: ExchangeKit.appID,
            projectNumber: ExchangeKit.projectNumber,
            projectID: ExchangeKit.projectID,
            issuedAt: milliseconds / 1000,
            expiresAt: milliseconds / 1000 + (limitedUse ? 300 : 3600),
            id: "some-id"
        )
    }

    static func limitedUse() throws -> String { try token(claims(limitedUse: true)) }

    static func token(_ claims: TokenClaims) throws -> String {
        String(decoding: TokenMinter.mint(claims, with: try ExchangeKit.rs256()), as: UTF8.self)
    }
}
