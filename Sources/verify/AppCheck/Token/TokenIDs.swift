package import AppAttest
package import Crypto
internal import JSON

/// A `jti` made by the worker: a digest in base64url, 43 characters.
package struct TokenID: Hashable, Sendable {
    let digest: Digest

    package var text: [UInt8] {
        var text: [UInt8] = []
        append(to: &text)
        return text
    }

    func append(to text: inout [UInt8]) { digest.withBytes { Base64.appendURL($0, to: &text) } }
}

/// The `jti`s of one app and subject: derived by SHA-256, so that a redelivered request gets the same one.
package struct TokenIDs: Sendable {
    /// The hash over `attest-worker jti v1`, subject and app, each text with its length in eight bytes before it.
    private let beginning: SHA256.Beginning
    private let sharedBeginning: SHA256.Beginning

    /// - Parameters:
    ///   - app: ``RegisteredApp/name``, which holds the project's number.
    ///   - subject: the token's `sub`.
    package init(app: String, subject: String) {
        beginning = Self.joined(["attest-worker jti v1", subject, app])
        sharedBeginning = Self.joined(["attest-worker shared jti v1", subject, app])
    }

    /// The id of a device's token.
    package func id(requestID: ExactText, valueDigest: Digest, keyID: KeyID) -> TokenID {
        id(requestID: requestID, valueDigest: valueDigest, holder: keyID.digest)
    }

    /// The hash over the beginning, the request id (its length in eight bytes before it), the digest of the request's
    /// value and its holder.
    ///
    /// - Parameters:
    ///   - valueDigest: SHA-256 of the record's value.
    ///   - holder: the key ID, or a debug token's hash.
    package func id(requestID: ExactText, valueDigest: Digest, holder: Digest) -> TokenID {
        let count = requestID.utf8.count
        var bytes: [UInt8] = []
        bytes.reserveCapacity(8 + count + 2 * Digest.byteCount)
        BigEndian.append(UInt64(count), to: &bytes)
        bytes += requestID.utf8
        valueDigest.append(to: &bytes)
        holder.append(to: &bytes)
        return TokenID(digest: beginning.hash(bytes.span))
    }

    /// The id of a session token that all requests of one app, subject and second share.
    package func shared(_ times: TokenTimes) -> TokenID {
        var bytes: [UInt8] = []
        for time in [times.issuedAt, times.expiresAt] { BigEndian.append(UInt64(bitPattern: time), to: &bytes) }
        return TokenID(digest: sharedBeginning.hash(bytes.span))
    }

    private static func joined(_ texts: [String]) -> SHA256.Beginning {
        var bytes: [UInt8] = []
        for text in texts {
            BigEndian.append(UInt64(text.utf8.count), to: &bytes)
            bytes += text.utf8
        }
        return SHA256.Beginning(bytes)
    }
}
