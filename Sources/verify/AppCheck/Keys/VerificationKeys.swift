internal import AppAttest
package import Crypto
internal import JSON

/// The public halves of signing keys, by `kid`: what verifies tokens. Immutable; a reload makes new ones.
package struct VerificationKeys: Sendable {
    struct Entry: Sendable {
        let kid: ExactText
        let algorithm: TokenSettings.Algorithm
        let publicKey: VerificationKey
    }

    /// The keys' ids, in the order of the configuration or of the set.
    let kids: [ExactText]
    private let byKid: [ExactText: Entry]
    let revoked: Set<ExactText>
    let absent: Set<ExactText>

    /// Active and published keys.
    init(_ keys: [TokenKey] = [], revoked: Set<ExactText> = [], absent: Set<ExactText> = []) {
        let entries = keys.map { Entry(kid: ExactText($0.kid), algorithm: $0.algorithm, publicKey: $0.key.publicKey) }
        self.init(entries, revoked: revoked, absent: absent)
    }

    private init(_ entries: [Entry], revoked: Set<ExactText> = [], absent: Set<ExactText> = []) {
        kids = entries.map(\.kid)
        byKid = Dictionary(entries.map { ($0.kid, $0) }) { first, _ in first }
        (self.revoked, self.absent) = (revoked, absent)
    }

    func isRevoked(_ kid: String) -> Bool { !revoked.isEmpty && revoked.contains(ExactText(kid)) }

    func isAbsent(_ kid: String) -> Bool { !absent.isEmpty && absent.contains(ExactText(kid)) }

    package func publicKey(_ kid: String) -> VerificationKey? { self[kid]?.publicKey }

    subscript(kid: String) -> Entry? { byKid[ExactText(kid)] }

    /// The key that a token names by its `kid`, unverified.
    subscript(kid: [UInt8]) -> Entry? { ExactText(validating: kid).flatMap { byKid[$0] } }
}

extension VerificationKeys {
    /// A JSON Web Key Set (RFC 7517) as ``TokenKeyRing/jsonWebKeySet`` writes it, the file of a process that has no
    /// signing keys.
    ///
    /// - Throws: ``KeySetFault`` for bytes that are not such a set, a key that no token of ours has, a `kid` that
    ///   appears twice, an empty set, and a private key: that file was meant for another process.
    package init(jsonWebKeySet text: [UInt8]) throws(KeySetFault) {
        guard let root = try? JSONDocument(parsing: text).root, let list = root["keys"], list.kind == .array else {
            throw KeySetFault(description: "is not a JSON Web Key Set")
        }
        var entries: [Entry] = []
        var seen: Set<ExactText> = []
        for key in list.elements {
            guard !key.hasDuplicateMembers, let kid = key["kid"]?.stringBytes.flatMap({ ExactText(validating: $0) }),
                !kid.utf8.isEmpty
            else {
                throw KeySetFault(description: "has a key without a kid")
            }
            let name = "key \(kid)"
            guard seen.insert(kid).inserted else { throw KeySetFault(description: "has \(name) twice") }
            guard key["d"] == nil, key["k"] == nil else {
                throw KeySetFault(description: "has the private half of \(name); write it with attest-worker jwks")
            }
            guard let entry = Self.entry(key, kid) else {
                throw KeySetFault(description: "has \(name), which is neither an RS256 nor an ES256 key")
            }
            entries.append(entry)
        }
        guard !entries.isEmpty else { throw KeySetFault(description: "has no key: every token would be refused") }
        self.init(entries)
    }

    private static func entry(_ key: JSONNode, _ kid: ExactText) -> Entry? {
        func number(_ name: StaticString) -> [UInt8]? {
            key[name]?.stringBytes.flatMap { Base64URL.decode($0[...]) }
        }
        func says(_ name: StaticString, _ text: String) -> Bool { key[name]?.holds(text.utf8Span.span) ?? false }
        if says("alg", "RS256"), says("kty", "RSA") {
            guard let modulus = number("n"), let exponent = number("e"),
                let publicKey = VerificationKey(.rsa(modulus: modulus, exponent: exponent))
            else { return nil }
            return Entry(kid: kid, algorithm: .rs256, publicKey: publicKey)
        }
        if says("alg", "ES256"), says("kty", "EC") {
            guard says("crv", "P-256"), let x = number("x"), let y = number("y"), x.count == 32, y.count == 32,
                let point = P256PublicKey(x963: [0x04] + x + y), let publicKey = VerificationKey(.p256(point))
            else { return nil }
            return Entry(kid: kid, algorithm: .es256, publicKey: publicKey)
        }
        return nil
    }
}

/// The reason why a file is not a set of public keys: the end of a sentence.
package struct KeySetFault: Error, Equatable, Sendable, CustomStringConvertible {
    package let description: String
}
