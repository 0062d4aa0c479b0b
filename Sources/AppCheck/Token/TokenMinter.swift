internal import Crypto
internal import JSON

/// Makes tokens: a compact JWS (RFC 7515) with header `kid typ alg` and claims in the order of Google's tokens.
package enum TokenMinter {
    /// - Returns: `header.payload.signature`, ASCII.
    package static func mint(_ claims: TokenClaims, with key: TokenKey) -> [UInt8] {
        let input = signingInput(claims, for: key)
        return join(input, signature: key.key.sign(input))
    }

    /// What is signed: `header.payload`.
    package static func signingInput(_ claims: TokenClaims, for key: TokenKey) -> [UInt8] {
        key.encodedHeader + Base64URL.encode(payload(claims))
    }

    package static func join(_ signingInput: [UInt8], signature: [UInt8]) -> [UInt8] {
        signingInput + [UInt8(ascii: ".")] + Base64URL.encode(signature)
    }

    /// `sub aud provider iss exp iat jti`; times are integers.
    private static func payload(_ claims: TokenClaims) -> [UInt8] {
        var writer = JSONWriter(capacity: 512)
        writer.beginObject()
        writer.key("sub")
        writer.string(claims.subject)
        writer.key("aud")
        writer.beginArray()
        for audience in claims.audiences { writer.string(audience) }
        writer.endArray()
        writer.key("provider")
        writer.string(TokenClaims.provider)
        writer.key("iss")
        writer.string(claims.issuer)
        writer.key("exp")
        writer.value(claims.expiresAt)
        writer.key("iat")
        writer.value(claims.issuedAt)
        writer.key("jti")
        writer.string(claims.id)
        writer.endObject()
        return writer.takeBytes()
    }
}
