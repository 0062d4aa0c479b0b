internal import AppAttest
package import Crypto
internal import JSON

/// The common beginning of all tokens of one subject under one key, encoded once: minting then costs little apart from
/// the signature. Made again when registry or keys are loaded.
package struct TokenTemplate: Sendable {
    package let key: TokenKey
    /// `base64url(header) . base64url(payload)` as far as whole groups of three bytes go.
    private let encoded: [UInt8]
    private let hashed: SHA256.Beginning
    /// The payload's next bytes, up to `"exp":`; one or two, or none.
    private let rest: [UInt8]

    /// Claims in the order of Google's tokens: `sub aud provider iss exp iat jti`.
    ///
    /// - Parameter isDebug: for tokens that were minted without a device.
    package init(subject: String, projectNumber: String, projectID: String?, key: TokenKey, isDebug: Bool = false) {
        let names = TokenClaims(
            subject: subject,
            projectNumber: projectNumber,
            projectID: projectID,
            issuedAt: 0,
            expiresAt: 0,
            id: "",
            isDebug: isDebug
        )
        var writer = JSONWriter(capacity: 256)
        writer.beginObject()
        writer.member("sub", subject)
        writer.key("aud")
        writer.beginArray()
        for audience in names.audiences { writer.string(audience) }
        writer.endArray()
        writer.member("provider", names.provider)
        writer.member("iss", names.issuer)
        writer.key("exp")
        let payload = writer.takeBytes()
        let whole = payload.count - payload.count % 3
        encoded = key.encodedHeader + Base64.encodeURL(Array(payload[..<whole]))
        hashed = SHA256.Beginning(encoded)
        rest = Array(payload[whole...])
        self.key = key
    }

    /// The bytes to sign: `header.payload`.
    private func signingInput(_ times: TokenTimes, idBytes: Int, _ appendID: (inout [UInt8]) -> Void) -> [UInt8] {
        var claims: [UInt8] = []
        claims.reserveCapacity(rest.count + Self.claimsBytes + idBytes)
        claims += rest
        Self.append(times.expiresAt, to: &claims)
        claims += Self.issuedAt
        Self.append(times.issuedAt, to: &claims)
        claims += Self.tokenID
        appendID(&claims)
        claims += Self.end
        var input: [UInt8] = []
        // Room for the signature too: a token is one allocation.
        input.reserveCapacity(encoded.count + 2 * (claims.count + key.key.signatureBytes))
        input += encoded
        Base64.appendURL(claims.span, to: &input)
        return input
    }

    /// Room for two numbers and the text around them.
    private static let claimsBytes = 64
    private static let issuedAt = Array(",\"iat\":".utf8)
    private static let tokenID = Array(",\"jti\":\"".utf8)
    private static let end = Array("\"}".utf8)

    private static func append(_ seconds: Int64, to text: inout [UInt8]) {
        // Ten digits until the year 2286.
        guard (1_000_000_000...9_999_999_999).contains(seconds) else { return text += String(seconds).utf8 }
        text.append(addingCapacity: 10) { output in
            output.append(repeating: UInt8(ascii: "0"), count: 10)
            var digits = output.mutableSpan
            var rest = UInt64(seconds)
            for index in (0..<10).reversed() {
                digits[index] += UInt8(truncatingIfNeeded: rest % 10)
                rest /= 10
            }
        }
    }

    /// - Returns: `header.payload.signature`, ASCII; nil if the key does not sign.
    package func mint(_ times: TokenTimes, id: TokenID) -> [UInt8]? { sign(draft(times, id: id)) }

    /// - Parameter id: the `jti`, which needs no escape in JSON.
    package func mint(_ times: TokenTimes, id: [UInt8]) -> [UInt8]? {
        sign(draft(signingInput(times, idBytes: id.count) { $0 += id }))
    }

    /// The token up to its signature, to be signed together with others.
    package func draft(_ times: TokenTimes, id: TokenID) -> UnsignedToken {
        draft(signingInput(times, idBytes: 48) { id.append(to: &$0) })
    }

    private func draft(_ input: [UInt8]) -> UnsignedToken {
        let digest = hashed.hash(input.span.extracting(encoded.count...))
        return UnsignedToken(input: input, request: SigningRequest(key: key.key, digest: digest))
    }

    private func sign(_ draft: consuming UnsignedToken) -> [UInt8]? {
        guard let signature = key.key.signature(of: draft.request.digest) else { return nil }
        return draft.finish(signature)
    }
}

/// A token that lacks its signature.
package struct UnsignedToken: Sendable {
    /// `header.payload`.
    private var input: [UInt8]
    package let request: SigningRequest

    init(input: [UInt8], request: SigningRequest) { (self.input, self.request) = (input, request) }

    /// - Returns: `header.payload.signature`. Nothing is left here.
    package mutating func finish(_ signature: [UInt8]) -> [UInt8] {
        // Taken out, so that the bytes grow where they are.
        var token: [UInt8] = []
        swap(&token, &input)
        token.append(UInt8(ascii: "."))
        Base64.appendURL(signature.span, to: &token)
        return token
    }
}

/// Makes one token: a compact JWS (RFC 7515) with header `kid typ alg`. For many of one app use a ``TokenTemplate``.
package enum TokenMinter {
    /// - Parameter key: of this process.
    /// - Returns: `header.payload.signature`, ASCII.
    package static func mint(_ claims: TokenClaims, with key: TokenKey) -> [UInt8] {
        let template = TokenTemplate(
            subject: claims.subject,
            projectNumber: claims.projectNumber,
            projectID: claims.projectID,
            key: key,
            isDebug: claims.isDebug
        )
        let token = template.mint(claims.times, id: Array(claims.id.utf8))
        guard let token else { preconditionFailure("a key of this process signs") }
        return token
    }
}

/// The first check of a token that fails. Its sender learns no more than that the token is invalid.
package enum TokenFault: String, CheckFailure, CaseIterable {
    /// No token at all: three parts, two of them JSON objects.
    case malformed
    /// Signed with a key that is not in the set.
    case unknownKey = "unknown_kid"
    /// Signed with a key whose file is absent.
    case absentKey = "absent_key"
    /// `typ`, `crit` or `alg` is not that of the key's tokens.
    case algorithm
    case signature
    /// Another project's, or none.
    case issuer, audience
    /// Other claims that are missing, of the wrong type or none of a worker's tokens.
    case claims
    case expired
    /// `iat` or `nbf` lies ahead.
    case ahead
    /// No app or OAuth client of the project, or one that may not have such a token.
    case app

    package var code: String { reason.code }
    package var reason: Reason { self == .absentKey ? .noActiveKey : .tokenInvalid }
}
