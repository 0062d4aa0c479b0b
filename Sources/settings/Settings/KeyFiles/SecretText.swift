internal import AppCheck
internal import Crypto
internal import JSON

/// The file of a sealing or challenge key: 32 random bytes as base64 text on one line.
enum SecretText {
    private static let pem = Array("-----BEGIN".utf8)

    /// Why a file is not such a key.
    struct Fault: Error {
        let problem: String

        fileprivate init(_ finding: String) {
            problem = "\(finding); a symmetric key is 32 random bytes as base64 text on one line"
        }
    }

    static func encode(_ bytes: [UInt8]) -> [UInt8] { Base64.encode(bytes) + [0x0A] }

    /// - Parameter text: may end in one line break.
    static func decode(_ text: [UInt8]) throws(Fault) -> Secret {
        guard !text.starts(with: pem) else { throw Fault("is PEM") }
        var line = text[...]
        if line.last == 0x0A { line.removeLast() }
        if line.last == 0x0D { line.removeLast() }
        guard let bytes = Base64.decode(Array(line)) else { throw Fault("is not base64") }
        guard bytes.count == 32 else { throw Fault("has \(bytes.count) bytes") }
        return Secret(bytes)
    }
}

extension ExchangeKeys {
    /// The names of the keys that are another one in `others`, which were read from the same configuration.
    package func differing(from others: ExchangeKeys) -> [String] {
        func differ(_ some: [NamedSecret], _ others: [NamedSecret], _ kind: String) -> [String] {
            zip(some, others).filter { !$0.secret.isEqual(to: $1.secret) }.map { "\(kind) \($0.0.id.printable)" }
        }
        let signing = rings.tokens.keys.filter { key in
            others.rings.tokens.keys.first { $0.kid == key.kid }?.key.publicKey.parameters
                != key.key.publicKey.parameters
        }
        return signing.map { "signing key \($0.kid.printable)" } + differ(sealing, others.sealing, "sealing key")
            + differ(challenges, others.challenges, "challenge key")
    }

    /// Secrets that everyone knows, or that stand for two kinds.
    var secretDoubts: [String] {
        let zero = Secret([UInt8](repeating: 0, count: 32))
        let named = sealing.map { ("sealing key", $0) } + challenges.map { ("challenge key", $0) }
        let known = named.filter { $1.secret.isEqual(to: zero) }.map { kind, key in
            "worker.json: \(kind) \(key.id.printable) is 32 zero bytes: anyone can forge what it seals; make another with "
                + "attest-worker new-keys --add"
        }
        let shared = sealing.filter { key in challenges.contains { $0.secret.isEqual(to: key.secret) } }
        return known
            + shared.map {
                "worker.json: sealing key \($0.id.printable) is a challenge key as well: a gateway holds challenge keys, and "
                    + "could open and make artifacts; make one of each with attest-worker new-keys --add"
            }
    }
}
