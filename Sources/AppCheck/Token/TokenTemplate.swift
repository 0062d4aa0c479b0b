internal import Crypto
internal import JSON

/// What all tokens of one subject under one key begin with, encoded once: minting then costs little beside the
/// signature. Made anew when registry or keys are loaded.
package struct TokenTemplate: Sendable {
    package let key: TokenKey
    /// `base64url(header) . base64url(payload)` as far as whole groups of three bytes go.
    private let encoded: [UInt8]
    /// The payload's next bytes, up to `"exp":`; one or two, or none.
    private let rest: [UInt8]

    /// Claims in the order of Google's tokens: `sub aud provider iss exp iat jti`.
    package init(subject: String, projectNumber: String, projectID: String?, key: TokenKey) {
        let names = TokenClaims(
            subject: subject,
            projectNumber: projectNumber,
            projectID: projectID,
            issuedAt: 0,
            expiresAt: 0,
            id: ""
        )
        var writer = JSONWriter(capacity: 256)
        writer.beginObject()
        writer.key("sub")
        writer.string(subject)
        writer.key("aud")
        writer.beginArray()
        for audience in names.audiences { writer.string(audience) }
        writer.endArray()
        writer.key("provider")
        writer.string(TokenClaims.provider)
        writer.key("iss")
        writer.string(names.issuer)
        writer.key("exp")
        let payload = writer.takeBytes()
        let whole = payload.count - payload.count % 3
        encoded = key.encodedHeader + Base64URL.encode(Array(payload[..<whole]))
        rest = Array(payload[whole...])
        self.key = key
    }

    /// What is signed: `header.payload`.
    ///
    /// - Parameters:
    ///   - id: the `jti`.
    package func signingInput(_ times: TokenTimes, id: String) -> [UInt8] {
        var writer = JSONWriter(appendingTo: rest)
        writer.value(times.expiresAt)
        writer.key("iat")
        writer.value(times.issuedAt)
        writer.key("jti")
        writer.string(id)
        writer.endObject()
        return encoded + Base64URL.encode(writer.takeBytes())
    }

    /// - Returns: `header.payload.signature`, ASCII.
    package func mint(_ times: TokenTimes, id: String) -> [UInt8] {
        let input = signingInput(times, id: id)
        return Self.join(input, signature: key.key.sign(input))
    }

    /// The token of a signature that was made elsewhere.
    package static func join(_ signingInput: [UInt8], signature: [UInt8]) -> [UInt8] {
        let text = Base64URL.encode(signature)
        var token: [UInt8] = []
        token.reserveCapacity(signingInput.count + 1 + text.count)
        token += signingInput
        token.append(UInt8(ascii: "."))
        token += text
        return token
    }
}
