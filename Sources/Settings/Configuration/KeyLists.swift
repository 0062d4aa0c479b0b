package import AppCheck
internal import Pipeline

/// The keys of the exchange in worker.json: their lists, which a reload takes, and the rules of challenges.
enum KeyLists {
    static let settings = lists + challenges

    private static let lists: [Setting<Configuration>] = [
        Setting(
            "signingKeys",
            \.signingKeys,
            of: { _ in SigningKeyEntry() },
            signing,
            range: "one `active` key for each algorithm at most",
            check: check
        ).means("Keys that sign App Check tokens, and keys that are only published."),
        secrets(
            "sealingKeys",
            \.sealingKeys,
            id: "The key's name. Artifacts carry four bytes of its SHA-256, so it must never change."
        ).means("Keys that seal artifacts. The first one seals, all of them open. A key that has sealed must stay."),
    ]

    private static let signing: [Setting<SigningKeyEntry>] = [
        Setting("kid", \.kid, .name, range: "not empty, unique").means("The key's name in tokens and in the key set."),
        Setting("algorithm", \.algorithm, .choice).means("Must match the key in the file: RSA or P-256."),
        Setting("file", \.file, .path).means("See [Configuration, Key files](Configuration.md#key-files)."),
        Setting("state", \.state, .choice).means(
            "`active` signs. `published` is in the key set and verifies. `revoked` is not in the key set, its tokens "
                + "are refused, and its file may be missing."
        ),
    ]

    private static let challenges: [Setting<Configuration>] = [
        Setting("challenges.mode", \.challenges.mode, .choice).means(
            "`sealed`: the worker makes and judges challenges. `external`: the gateway does both, and the worker takes "
                + "every challenge."
        ),
        Setting("challenges.ttl", \.challenges.ttlMilliseconds, .duration(1000...86_400_000))
            .means("Life of a challenge."),
        secrets("challenges.keys", \.challengeKeys)
            .means("Keys that seal challenges. The first one seals, all of them open."),
    ]

    private static func check(
        _ value: ConfigurationValue,
        _ entry: SigningKeyEntry,
        _ others: [SigningKeyEntry]
    ) throws(ConfigurationFault) {
        guard !others.contains(where: { $0.kid == entry.kid })
        else { throw value.fault("appears twice; give each key its own", at: "kid") }
        guard
            entry.state != .active
                || !others.contains(where: { $0.state == .active && $0.algorithm == entry.algorithm })
        else {
            let problem = "one \(entry.algorithm.rawValue) key is already active; publish the other"
            throw value.fault(problem, at: "state")
        }
    }

    private static func secrets(
        _ name: String,
        _ path: Setting<Configuration>.Path<[KeyEntry]>,
        id: String = "The key's name."
    ) -> Setting<Configuration> {
        let settings: [Setting<KeyEntry>] = [
            Setting("id", \.id, .name, range: "not empty, unique").means(id),
            Setting("file", \.file, .path).means("See [Configuration, Key files](Configuration.md#key-files)."),
        ]
        return Setting(name, path, of: { _ in KeyEntry() }, settings) {
            value,
            entry,
            others throws(ConfigurationFault) in
            guard !others.contains(where: { $0.id == entry.id })
            else { throw value.fault("appears twice; give each key its own", at: "id") }
        }
    }
}

/// A secret's file by its id; `file` is resolved against the config directory.
package struct KeyEntry: Sendable, Equatable {
    package var id = ""
    package var file = ""
}

/// A key that signs tokens, is published only, or was revoked: then its tokens are refused and its file is not needed.
package struct SigningKeyEntry: Sendable, Equatable {
    package enum State: String, Sendable, CaseIterable { case active, published, revoked }
    package var kid = ""
    package var algorithm = TokenSettings.Algorithm.rs256
    package var file = ""
    package var state = State.active
}
