internal import AppCheck
internal import Crypto

/// Compares the file of `gateway.publicKeys` with worker.json's signing keys, where one folder has both.
enum KeySetDoubts {
    /// - Parameters:
    ///   - set: the file's bytes; nil = there is none.
    ///   - ring: the keys themselves; nil where only their names are known.
    static func warnings(_ configuration: Configuration, set: [UInt8]?, _ ring: TokenKeyRing? = nil) -> [String] {
        guard let set, let keys = try? VerificationKeys(jsonWebKeySet: set) else { return [] }
        let file = "gateway.publicKeys: \((configuration.gateway.publicKeys ?? "").printable)"
        let remedy = "write it again with attest-worker jwks"
        return configuration.signingKeys.compactMap { entry in
            let (name, key) = ("signing key \(entry.kid.printable)", keys.publicKey(entry.kid))
            switch entry.state {
            case .revoked:
                return key.map { _ in
                    "\(file) still has \(name), which is revoked: gateways accept its tokens; \(remedy)"
                }
            case .active, .published:
                guard let key else { return "\(file) lacks \(name): gateways refuse its tokens; \(remedy)" }
                let own = ring?[entry.kid]?.key.publicKey.parameters ?? key.parameters
                return own == key.parameters
                    ? nil : "\(file) has another key as \(name): gateways refuse its tokens; \(remedy)"
            }
        }
    }
}
