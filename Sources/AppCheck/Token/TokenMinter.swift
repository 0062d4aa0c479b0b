/// Makes one token: a compact JWS (RFC 7515) with header `kid typ alg`. For many of one app use a ``TokenTemplate``.
package enum TokenMinter {
    /// - Returns: `header.payload.signature`, ASCII.
    package static func mint(_ claims: TokenClaims, with key: TokenKey) -> [UInt8] {
        template(claims, key).mint(claims.times, id: Array(claims.id.utf8))
    }

    /// The bytes to sign: `header.payload`.
    package static func signingInput(_ claims: TokenClaims, for key: TokenKey) -> [UInt8] {
        template(claims, key).signingInput(claims.times, id: Array(claims.id.utf8))
    }

    private static func template(_ claims: TokenClaims, _ key: TokenKey) -> TokenTemplate {
        TokenTemplate(
            subject: claims.subject,
            projectNumber: claims.projectNumber,
            projectID: claims.projectID,
            key: key,
            isDebug: claims.isDebug
        )
    }
}
