internal import AppAttest
internal import Crypto

/// All signing keys. Immutable; a reload makes a new one.
package struct TokenKeyRing: Sendable {
    /// The keys that were not revoked, in the order of the configuration.
    package let keys: [TokenKey]
    private let byKid: [ExactText: Int]
    let verification: VerificationKeys

    /// A ring without keys: nothing can be signed or verified.
    package init() { (keys, byKid, verification) = ([], [:], VerificationKeys()) }

    /// - Parameters:
    ///   - revoked: `kid`s whose tokens are refused from now on; such a key is not published and never signs.
    ///   - absent: `kid`s whose files a replay does not have: their tokens cannot be judged.
    package init(_ keys: [TokenKey], revoked: [String] = [], absent: [String] = []) throws(KeyRingFault) {
        try self.init(keys, Set(revoked.map { ExactText($0) }), Set(absent.map { ExactText($0) }))
    }

    private init(_ keys: [TokenKey], _ revoked: Set<ExactText>, _ absent: Set<ExactText>) throws(KeyRingFault) {
        var byKid: [ExactText: Int] = [:]
        for (index, key) in keys.enumerated() {
            guard byKid.updateValue(index, forKey: ExactText(key.kid)) == nil else { throw .standsTwice(id: key.kid) }
        }
        (self.keys, self.byKid) = (keys, byKid)
        verification = VerificationKeys(keys, revoked: revoked, absent: absent)
    }

    /// The same ring without these keys, whose tokens are refused from now on.
    package func revoking(_ kids: Set<String>) throws(KeyRingFault) -> TokenKeyRing {
        let rest = keys.filter { !kids.contains($0.kid) }
        return try TokenKeyRing(rest, verification.revoked.union(kids.map { ExactText($0) }), verification.absent)
    }

    /// The key that signs: the first active one of that algorithm.
    package func active(_ algorithm: TokenSettings.Algorithm) -> TokenKey? {
        keys.first { $0.state == .active && $0.algorithm == algorithm }
    }

    /// Whether a signature may take as long as another holder of the key takes.
    package var signsElsewhere: Bool { keys.contains { $0.state == .active && $0.key.held != nil } }

    /// Whether no key is listed at all: a genuine token then looks like a forged one.
    package var isEmpty: Bool { keys.isEmpty && verification.revoked.isEmpty && verification.absent.isEmpty }

    package func isRevoked(_ kid: String) -> Bool { verification.isRevoked(kid) }

    /// The key of this name, active or published.
    package subscript(kid: String) -> TokenKey? { byKid[ExactText(kid)].map { keys[$0] } }
}
