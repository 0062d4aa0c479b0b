package import AppAttest
package import Crypto
internal import JSON

/// A team's DeviceCheck key, which speaks for its receipts at Apple.
package struct ProviderKey: Sendable {
    package let team: String
    package let kid: String
    /// P-256.
    package let key: SigningKey
    /// App ID prefixes; those of old apps are not the team's ID.
    package let appIDPrefixes: Set<String>

    /// - Parameter appIDPrefixes: nil = the team's ID alone.
    /// - Returns: nil for a key that cannot sign ES256.
    package init?(team: String, kid: String, key: SigningKey, appIDPrefixes: Set<String>? = nil) {
        guard key.kind == .p256 else { return nil }
        (self.team, self.kid, self.key, self.appIDPrefixes) = (team, kid, key, appIDPrefixes ?? [team])
    }

    /// Whether the key speaks for an app: what is before the first dot is the prefix.
    package func speaks(forAppID appID: String) -> Bool {
        guard let dot = appID.firstIndex(of: ".") else { return false }
        return appIDPrefixes.contains(String(appID[..<dot]))
    }

    func isSame(as other: ProviderKey) -> Bool {
        team == other.team && kid == other.kid && key.publicKey.parameters == other.key.publicKey.parameters
    }
}

/// The JWT of a team: ES256, as a provider's at APNs.
package struct ProviderToken: Sendable, Equatable {
    package static let lifeMilliseconds = 30 * Milliseconds.minute

    /// `header.payload.signature`: the value of the header `Authorization`.
    package let text: [UInt8]
    /// The time of its claim `iat`, in whole seconds.
    package let issuedAt: EvaluationTime

    /// - Parameter time: cut to seconds for `iat`.
    package init(_ key: ProviderKey, at time: EvaluationTime) {
        let seconds = time.milliseconds / Milliseconds.second
        var header = JSONWriter(capacity: 64)
        header.beginObject()
        header.member("alg", "ES256")
        header.member("kid", key.kid)
        header.endObject()
        var claims = JSONWriter(capacity: 64)
        claims.beginObject()
        claims.member("iss", key.team)
        claims.member("iat", seconds)
        claims.endObject()
        var text = Base64.encodeURL(header.takeBytes()) + [UInt8(ascii: ".")] + Base64.encodeURL(claims.takeBytes())
        let signature = key.key.sign(text)
        text.append(UInt8(ascii: "."))
        text += Base64.encodeURL(signature)
        self.text = text
        issuedAt = EvaluationTime(seconds: seconds)
    }

    /// Whether it is in use. After a clock was set back it is a token of the future, which is refused.
    package func isCurrent(at time: EvaluationTime) -> Bool {
        issuedAt <= time && time.since(issuedAt) < Self.lifeMilliseconds
    }
}
