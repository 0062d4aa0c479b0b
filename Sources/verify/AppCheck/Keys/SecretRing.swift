package import Crypto

/// Keys made of configured secrets, found by the short id in sealed objects. Immutable; a reload makes a new ring.
package struct SecretRing<Key: SecretKey>: Sendable {
    /// The ring's keys, in the order of the configuration.
    package let keys: [Key]
    private let byID: [SealingKeyID: Int]
    let absent: Set<SealingKeyID>

    /// A ring without keys: nothing can be sealed or opened.
    package init() { (keys, byID, absent) = ([], [:], []) }

    /// - Parameter absent: ids whose files a replay does not have: what they sealed cannot be judged.
    package init(_ secrets: [NamedSecret], absent: [String] = []) throws(KeyRingFault) {
        var byID: [SealingKeyID: Int] = [:]
        for (index, named) in secrets.enumerated() {
            guard !named.id.isEmpty else { throw .unnamed }
            guard named.secret.count == NamedSecret.byteCount
            else { throw .wrongSize(id: named.id, bytes: named.secret.count) }
            if let other = byID.updateValue(index, forKey: SealingKeyID(of: named.id)).map({ secrets[$0].id }) {
                throw other == named.id ? .standsTwice(id: named.id) : .alike(id: named.id, other: other)
            }
        }
        self.byID = byID
        self.absent = Set(absent.map { SealingKeyID(of: $0) })
        keys = secrets.map { Key(id: SealingKeyID(of: $0.id), secret: $0.secret) }
    }

    /// The key that seals: the first one listed.
    package var active: Key? { keys.first }

    package subscript(id: SealingKeyID) -> Key? { byID[id].map { keys[$0] } }

    /// Whether the configuration lists any, with its file or without.
    var isListed: Bool { !keys.isEmpty || !absent.isEmpty }

    func isAbsent(_ id: SealingKeyID) -> Bool { !absent.isEmpty && absent.contains(id) }
}

/// A key of a ``SecretRing``: its sub-keys are derived from one secret.
package protocol SecretKey: Sendable {
    init(id: SealingKeyID, secret: Secret)

    var operatorKey: OperatorKey { get }
}

extension Secret {
    /// An independent secret of 32 bytes: HKDF-SHA256 without salt, the label as info.
    func subkey(_ label: String) -> Secret {
        HKDF.derive(self, info: Array(label.utf8))
    }
}

/// The reason why a list of keys is not a ring; `id` is the key's id or `kid` as configured.
package enum KeyRingFault: Error, Equatable, Sendable, CustomStringConvertible {
    case standsTwice(id: String)
    /// Two ids whose hashes begin with the same four bytes.
    case alike(id: String, other: String)
    case wrongSize(id: String, bytes: Int)
    case wrongKind(kid: String, algorithm: String)
    /// A `kid` without characters.
    case unnamed

    package var description: String {
        switch self {
        case .standsTwice(let id): "key \(id) appears twice"
        case .alike(let id, let other): "keys \(id) and \(other) cannot be distinguished: rename the newer one"
        case .wrongSize(let id, let bytes): "key \(id) has \(bytes) bytes, but must have 32"
        case .wrongKind(let kid, let algorithm): "key \(kid) is of the wrong kind for \(algorithm)"
        case .unnamed: "a key has no id"
        }
    }
}

/// A secret of the configuration with its id.
package struct NamedSecret: Sendable {
    /// The configured id, any text; never published.
    package let id: String
    /// 32 bytes.
    package let secret: Secret

    package static let byteCount = 32

    package init(id: String, secret: Secret) { (self.id, self.secret) = (id, secret) }
}
