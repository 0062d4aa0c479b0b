package import AppAttest
package import AppCheck
package import Crypto
internal import JSON
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
        Setting("file", \.file, .source(standard: "or `command`, or `key`"))
            .means("See [Configuration, Key files](Configuration.md#key-files)."),
        program(\.command),
        Setting("key", \.key, .tokenKey).means(
            "Instead of `file`: a key inside a PKCS #11 token, such as an HSM. See [Keys elsewhere](KeysElsewhere.md)."
        ),
        Setting("pin", \.pin, .pinFile)
            .means("With `key`: the file that has the PIN of the token's user. It has the rights of a key file."),
        Setting("published", \.published, .optional(.time, absent: "none")).means(
            "With `key` or `command`: when the key was first in the key set, which the time of a file tells of others. "
                + "`new-keys --token` writes it."
        ),
        Setting("state", \.state, .choice).means(
            "`active` signs. `published` is in the key set and verifies. `revoked` is not in the key set, its tokens "
                + "are refused, and its file may be missing."
        ),
    ]

    private static func program<Entry>(_ path: Setting<Entry>.Path<[String]>) -> Setting<Entry> {
        Setting("command", path, .program).means(
            "Instead of `file`: a program's absolute path and its arguments. What it writes to standard output is the key. "
                + "See [Keys elsewhere](KeysElsewhere.md)."
        )
    }

    /// Checks that a key comes from one place.
    private static func checkSource(
        _ value: ConfigurationValue,
        _ places: [(name: String, isNamed: Bool)]
    ) throws(ConfigurationFault) {
        guard places.count(where: \.isNamed) != 1 else { return }
        let names = places.map(\.name).joined(separator: ", ")
        throw value.fault("must name where the key is: one of \(names), and only one")
    }

    /// The signing keys that worker.json lists as revoked, whatever else in it is wrong.
    static func revoked(in files: ConfigurationFiles) -> Set<String> {
        let list = (try? files.root(of: "worker.json"))?.node?["signingKeys"]?.elements ?? []
        return Set(
            list.compactMap { $0["state"]?.string == SigningKeyEntry.State.revoked.rawValue ? $0["kid"]?.string : nil }
        )
    }

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
        let places = [
            ("file", !entry.file.isEmpty), ("command", !entry.command.isEmpty), ("key", entry.key != nil),
        ]
        try checkSource(value, places)
        guard entry.pin.isEmpty || entry.key != nil else { throw value.fault("goes with key alone", at: "pin") }
        guard entry.published == nil || entry.file.isEmpty
        else { throw value.fault("goes with key or command: a file has a time of its own", at: "published") }
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
            Setting("file", \.file, .source(standard: "or `command`"))
                .means("See [Configuration, Key files](Configuration.md#key-files)."),
            program(\.command),
        ]
        return Setting(name, path, of: { _ in KeyEntry() }, settings) {
            value,
            entry,
            others throws(ConfigurationFault) in
            guard !others.contains(where: { $0.id == entry.id })
            else { throw value.fault("appears twice; give each key its own", at: "id") }
            try checkSource(value, [("file", !entry.file.isEmpty), ("command", !entry.command.isEmpty)])
        }
    }
}

/// A secret by its id, from a file or a program; `file` is resolved against the config directory.
package struct KeyEntry: Sendable, Equatable {
    package var id = ""
    package var file = ""
    package var command: [String] = []
}

/// A key that signs tokens, is published only, or was revoked: then its tokens are refused and its file is not needed.
package struct SigningKeyEntry: Sendable, Equatable {
    package enum State: String, Sendable, CaseIterable { case active, published, revoked }
    package var kid = ""
    package var algorithm = TokenSettings.Algorithm.rs256
    package var file = ""
    package var command: [String] = []
    /// The key's name inside a token, and the path of the PIN's file.
    package var key: HSMKeyName?
    package var pin = ""
    /// When a key without a file was made, or first listed.
    package var published: EvaluationTime?
    package var state = State.active
}

extension SettingKind<String> {
    /// A path that may be absent.
    ///
    /// - Parameter standard: the page's word for the default.
    fileprivate static func source(standard: String) -> Self {
        SettingKind(type: "path", schema: JSONSchema.string(atLeast: 1), text: { _ in standard }, read: path.read)
    }

    /// `${file:PATH}`: a PIN's text has no place in worker.json.
    fileprivate static var pinFile: Self {
        let schema = JSONSchema.string(pattern: #"^\$\{file:.+\}$"#)
        return SettingKind(type: "string", range: "`${file:PATH}`", schema: schema, text: { _ in "none" }) {
            value throws(ConfigurationFault) in
            let text = try string.read(value)
            guard text.hasPrefix("${file:"), text.hasSuffix("}"), text.count > "${file:}".count
            else { throw value.fault("must be ${file:PATH}: the path of a file that has the PIN") }
            return value.files.resolve(String(text.dropFirst("${file:".count).dropLast()))
        }
    }
}

extension SettingKind<[String]> {
    fileprivate static var program: Self {
        let list = strings { $0 }
        return SettingKind(type: list.type, range: "not empty", schema: list.schema, text: { _ in "none" }) {
            value throws(ConfigurationFault) in
            let words = try value.strings()
            guard words.first?.hasPrefix("/") == true, !words.contains(where: { $0.utf8.contains(0) })
            else { throw value.fault("must be a program's absolute path and its arguments; no shell reads them") }
            return words
        }
    }
}

extension SettingKind<HSMKeyName?> {
    fileprivate static var tokenKey: Self {
        let schema = JSONSchema.string(pattern: "^pkcs11:")
        return SettingKind(type: "string", range: "a `pkcs11:` URI", schema: schema, text: { _ in "none" }) {
            value throws(ConfigurationFault) in
            let text = try SettingKind<String>.string.read(value)
            do throws(HSMKeyName.Fault) { return try HSMKeyName(text) } catch { throw value.fault(error.problem) }
        }
    }
}
