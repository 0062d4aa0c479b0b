internal import AppAttest
package import Crypto
internal import JSON

/// A team's key for the receipt exchange, as Apple knows it.
package struct DeviceCheckKey: Sendable {
    package let team: String
    package let kid: String
    package let publicKey: VerificationKey
    /// The App ID prefixes whose receipts it opens.
    package let appIDPrefixes: [String]

    /// - Parameter appIDPrefixes: nil = the team alone; old App IDs have others.
    package init(team: String, kid: String, publicKey: VerificationKey, appIDPrefixes: [String]? = nil) {
        (self.team, self.kid, self.publicKey) = (team, kid, publicKey)
        self.appIDPrefixes = appIDPrefixes ?? [team]
    }

    func opens(_ appID: [UInt8]) -> Bool {
        let prefix = appID.prefix { $0 != UInt8(ascii: ".") }
        return prefix.count < appID.count && appIDPrefixes.contains { prefix.elementsEqual($0.utf8) }
    }
}

/// A provider authentication token: a JWT that a team's key has signed.
struct ProviderToken {
    private static let lifeSeconds: Int64 = 3_600
    private static let mostBytes = 4_096

    private let header: JSONNode
    private let claims: JSONNode
    private let signed: [UInt8]
    private let signature: [UInt8]

    /// - Parameter values: of the header `Authorization`: the token alone, or after `Bearer`.
    init(_ values: [[UInt8]]) throws(AppleRefusal) {
        guard values.count == 1, let value = values.first, !value.isEmpty else { throw .tokenMissing }
        let token = Self.withoutScheme(value)
        let parts = token.split(separator: UInt8(ascii: "."), maxSplits: 3, omittingEmptySubsequences: false)
        guard token.count <= Self.mostBytes, parts.count == 3, let header = Self.object(parts[0]),
            let claims = Self.object(parts[1]), let signature = Self.bytes(parts[2]),
            header["alg"]?.string == "ES256"
        else { throw .tokenMalformed }
        (self.header, self.claims, self.signature) = (header, claims, signature)
        signed = Array(parts[0] + [UInt8(ascii: ".")] + parts[1])
    }

    /// The key that signed the token for its own team within an hour of `now`.
    func key(among keys: [DeviceCheckKey], at now: EvaluationTime) throws(AppleRefusal) -> DeviceCheckKey {
        guard let kid = header["kid"]?.stringBytes, let key = keys.first(where: { kid.elementsEqual($0.kid.utf8) })
        else { throw .tokenUnknownKey }
        guard key.publicKey.isValid(signature, of: signed) else { throw .tokenSignature }
        guard claims["iss"]?.stringBytes?.elementsEqual(key.team.utf8) == true else { throw .tokenOtherIssuer }
        guard let issued = claims["iat"]?.integer else { throw .tokenMalformed }
        let time = EvaluationTime(seconds: issued)
        guard now - Self.lifeSeconds <= time, time <= now + Self.lifeSeconds else { throw .tokenExpired }
        return key
    }

    private static func withoutScheme(_ value: [UInt8]) -> ArraySlice<UInt8> {
        let scheme = value.prefix { $0 != UInt8(ascii: " ") }
        let isBearer = scheme.count < value.count && scheme.map { $0 | 0x20 }.elementsEqual("bearer".utf8)
        return isBearer ? value[scheme.count...].drop { $0 == UInt8(ascii: " ") } : value[...]
    }

    private static func object(_ part: ArraySlice<UInt8>) -> JSONNode? {
        guard let text = bytes(part), let document = try? JSONDocument(parsing: text) else { return nil }
        let root = document.root
        return root.kind == .object && !root.hasDuplicateMembers ? root : nil
    }

    /// Base64 in the URL-safe alphabet, without padding: no other text gives the same bytes.
    private static func bytes(_ part: ArraySlice<UInt8>) -> [UInt8]? {
        guard let bytes = Base64.decode(Array(part)), Base64.encodeURL(bytes).elementsEqual(part) else { return nil }
        return bytes
    }
}
