package import AppAttest
package import Crypto

/// The `jti`: derived, so that a redelivered request gets the same one. 43 characters, SHA-256 in base64url.
package enum TokenID {
    /// SHA-256 over `attest-worker jti v1`, subject, app, request id (each text with its length in eight bytes before
    /// it), the digest of the request's value and the key ID.
    ///
    /// - Parameters:
    ///   - app: ``RegisteredApp/name``, which holds the project's number.
    ///   - subject: the token's `sub`.
    ///   - valueDigest: SHA-256 of the record's value.
    package static func derived(
        app: String,
        subject: String,
        requestID: String,
        valueDigest: Digest,
        keyID: KeyID
    ) -> String {
        text(["attest-worker jti v1", subject, app, requestID], valueDigest.bytes + keyID.bytes)
    }

    /// Of a session token that all requests of one app, subject and second share.
    package static func shared(app: String, subject: String, times: TokenTimes) -> String {
        text(
            ["attest-worker shared jti v1", subject, app],
            [times.issuedAt, times.expiresAt].flatMap { BigEndian.bytes(UInt64(bitPattern: $0), 8) }
        )
    }

    private static func text(_ texts: [String], _ rest: [UInt8]) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(texts.reduce(rest.count) { $0 + 8 + $1.utf8.count })
        for text in texts {
            let count = UInt64(text.utf8.count)
            for shift in stride(from: UInt64(56), through: 0, by: -8) {
                bytes.append(UInt8(truncatingIfNeeded: count >> shift))
            }
            bytes += text.utf8
        }
        bytes += rest
        return String(decoding: Base64URL.encode(SHA256.hash(bytes).bytes), as: UTF8.self)
    }
}
