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
