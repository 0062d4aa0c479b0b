internal import AppAttest
internal import AppCheck
internal import Crypto
package import Risk
package import Settings

/// The teams' DeviceCheck keys: for those who call Apple alone. No other key file is opened here.
package enum DeviceCheckKeys {
    private static let remedies = (
        missing: "fix the path, or put the key there that Apple let you download once",
        closed: "let the user of refresh-receipts and exchange-receipt read it, and no other"
    )

    /// - Throws: ``ConfigurationFault`` for the first file that is missing, open to others or no key on P-256.
    package static func load(_ configuration: Configuration) throws(ConfigurationFault) -> [ProviderKey] {
        var keys: [ProviderKey] = []
        for entry in configuration.risk.keys {
            let key = try load(entry)
            if let twin = keys.first(where: { $0.key.publicKey.parameters == key.key.publicKey.parameters }) {
                throw KeyFault.fault(name(entry), entry.file, "is the key of team \(twin.team.printable) again")
            }
            keys.append(key)
        }
        return keys
    }

    /// - Throws: where an app keeps receipts that no key can exchange.
    static func checkApps(_ configuration: Configuration) throws(ConfigurationFault) {
        let served = Set(configuration.risk.keys.flatMap(\.prefixes))
        for app in configuration.registry.apps where app.risk.keepsReceipts {
            for appID in app.expectations.appIDs.map(\.text) {
                let prefix = String(appID.prefix { $0 != "." })
                if served.contains(prefix) { continue }
                throw ConfigurationFault(
                    "worker.json: risk.keys: no key serves \(prefix.printable), the prefix of \(appID.printable) in app "
                        + "\(app.appID.printable), whose risk.mode is \(app.risk.mode.rawValue): add the team's key, or "
                        + "the prefix to its appIDPrefixes."
                )
            }
        }
    }

    /// The key files, whose changes ask for a reload.
    static func paths(_ configuration: Configuration) -> Set<String> {
        Set(configuration.risk.keys.map(\.file))
    }

    private static func load(_ entry: DeviceCheckEntry) throws(ConfigurationFault) -> ProviderKey {
        let name = name(entry)
        let file = try KeyFile(entry.file, of: name, remedies: remedies)
        guard P256PublicKey(anyForm: file.bytes) == nil else {
            throw KeyFault.fault(name, entry.file, "is a public key; name the private key, a file such as AuthKey.p8")
        }
        let key: SigningKey
        do throws(SigningKeyFault) { key = try SigningKey(pem: file.bytes) } catch {
            let problem = error == .wrongKind ? "is not a key on P-256" : error.description
            throw KeyFault.fault(name, entry.file, "\(problem); name the .p8 file as Apple made it")
        }
        let prefixes = entry.appIDPrefixes.map { Set($0) }
        guard let provider = ProviderKey(team: entry.team, kid: entry.kid, key: key, appIDPrefixes: prefixes) else {
            throw KeyFault.fault(
                name,
                entry.file,
                "is an RSA key, not one on P-256; name the .p8 file as Apple made it"
            )
        }
        return provider
    }

    private static func name(_ entry: DeviceCheckEntry) -> String { "DeviceCheck key \(entry.kid.printable)" }
}
