internal import AppCheck
internal import Crypto

/// Keys that a reload may not remove: live tokens, artifacts and challenges need them.
enum KeyHistory {
    /// - Throws: a ``ConfigurationFault`` that names the key.
    static func check(_ new: ExchangeKeys, after old: ExchangeKeys) throws(ConfigurationFault) {
        for key in old.rings.tokens.keys {
            guard let next = new.rings.tokens[key.kid] else {
                // Revoked: another holder of the key must not be trusted until its last token expires.
                if new.rings.tokens.isRevoked(key.kid) { continue }
                guard key.state == .published else {
                    throw fault(
                        "signing key",
                        key.kid,
                        "was active: keep it published until its last token has expired, or set \"state\": \"revoked\""
                    )
                }
                continue
            }
            guard next.key.publicKey.parameters == key.key.publicKey.parameters
            else { throw fault("signing key", key.kid, "is now a different key: give the new one its own kid") }
        }
        try check(new.sealing, after: old.sealing, "sealing key") { _ in
            "was removed: artifacts sealed with it need it for years"
        }
        try check(new.challenges, after: old.challenges, "challenge key") { index in
            index == 0 ? "was the first: keep it after the new one until its challenges have expired" : nil
        }
    }

    /// - Parameter need: why a key at this place must stay; nil = it may go.
    private static func check(
        _ new: [NamedSecret],
        after old: [NamedSecret],
        _ kind: String,
        _ need: (Int) -> String?
    ) throws(ConfigurationFault) {
        for (index, key) in old.enumerated() {
            if let next = new.first(where: { $0.id == key.id }) {
                guard next.secret.isEqual(to: key.secret)
                else { throw fault(kind, key.id, "is now a different key: give the new one its own id") }
            } else if let need = need(index) {
                throw fault(kind, key.id, need)
            }
        }
    }

    private static func fault(_ kind: String, _ id: String, _ problem: String) -> ConfigurationFault {
        ConfigurationFault("worker.json: \(kind) \(id.printable) \(problem).")
    }
}
