internal import AppAttest
internal import JSON

/// The bodies of accepted requests, exactly as Google's clients parse them: camelCase, standard padded base64, `ttl` a
/// string. v1beta's deprecated mirrors repeat the token.
package enum ExchangeAnswer {
    /// generateAppAttestChallenge.
    package static func challenge(_ challenge: [UInt8], ttl: ProtoDuration) -> [UInt8] {
        body { writer in
            writer.member("challenge", base64: challenge)
            writer.member("ttl", ttl.text)
        }
    }

    /// exchangeAppAttestAttestation.
    ///
    /// - Parameter token: the JWT's text.
    package static func attestation(artifact: [UInt8], token: [UInt8], ttl: ProtoDuration, isBeta: Bool) -> [UInt8] {
        body { writer in
            writer.member("artifact", base64: artifact)
            writer.key("appCheckToken")
            writer.beginObject()
            members(&writer, token, ttl, mirror: isBeta, original: true)
            writer.endObject()
            guard isBeta else { return }
            writer.key("attestationToken")
            writer.beginObject()
            members(&writer, token, ttl, mirror: true, original: false)
            writer.endObject()
        }
    }

    /// exchangeAppAttestAssertion and exchangeDebugToken.
    ///
    /// - Parameter token: the JWT's text.
    package static func assertion(token: [UInt8], ttl: ProtoDuration, isBeta: Bool) -> [UInt8] {
        body { members(&$0, token, ttl, mirror: isBeta, original: true) }
    }

    /// verifyAppCheckToken: `{}` the first time.
    package static func verification(alreadyConsumed: Bool) -> [UInt8] {
        body { if alreadyConsumed { $0.member("alreadyConsumed", true) } }
    }

    /// The error body of Google's services (google.rpc.Status).
    ///
    /// - Parameter reason: for callers of ``Verb/tellsReason`` alone.
    package static func error(_ status: Status, reason: String? = nil) -> [UInt8] {
        body { writer in
            writer.key("error")
            writer.beginObject()
            writer.member("code", status.code)
            writer.member("message", validUTF8: status.message.utf8)
            writer.member("status", status.status)
            if let reason { writer.member("reason", reason) }
            writer.endObject()
        }
    }

    private static func members(
        _ writer: inout JSONWriter,
        _ token: [UInt8],
        _ ttl: ProtoDuration,
        mirror: Bool,
        original: Bool
    ) {
        if mirror { writer.member("attestationToken", utf8: token) }
        if original { writer.member("token", utf8: token) }
        writer.member("ttl", ttl.text)
    }

    private static func body(_ members: (inout JSONWriter) -> Void) -> [UInt8] {
        var writer = JSONWriter(capacity: 1024)
        writer.beginObject()
        members(&writer)
        writer.endObject()
        return writer.takeBytes()
    }
}
