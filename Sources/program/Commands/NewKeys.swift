internal import AppCheck
internal import CommandFrame
internal import Pipeline
internal import Settings

extension Command {
    static let newKeys = Command(
        name: "new-keys",
        summary: "fresh signing, sealing and challenge keys, and their rotation",
        options: [
            .value("--config", "DIR", "the configuration directory", .required),
            .value("--only", "KINDS", "of signing,sealing,challenge (all three)"),
            .value("--algorithm", "A", "RS256 or ES256, of signing keys (what the apps use)", .repeatable),
            .value("--rsa-bits", "N", "size of RSA signing keys: 2048, 3072 or 4096 (2048)"),
            .value("--token", "URI", "make signing keys inside this PKCS #11 token"),
            .value("--pin", "FILE", "with --token: the file of its user's PIN"),
            .flag("--add", "enter the keys into worker.json as well"),
            .value("--activate", "ID", "make no key, but use this one of worker.json from now on"),
            .flag("--early", "activate a signing key that was not published for 7 h"),
        ],
        notes: """
            Keys are written into DIR/\(FreshKeys.folder), each into its own file that only its owner can read (mode
            600); no file is overwritten. Signing keys are PKCS#8 PEM (RSA, or P-256); their kid is derived from the
            public key. Google signs with RSA of 3072 bits, which costs 2.7 times as much a token as 2048.
            Sealing and challenge keys are 32 random bytes as base64 text on one line. Without --add the lines for
            worker.json are printed; --add and --activate replace worker.json in one step and keep all but its white
            space.
            --token makes no file: the key pair is made inside the token, which keeps its private half. URI names a token
            and its module: pkcs11:token=worker?module-path=/usr/lib/softhsm/libsofthsm2.so. A key has its kid as label.

            \(RotationAdvice.text)
            """,
        run: { try NewKeysCommand($0, $1).run() }
    )
}

/// The order in which keys are rotated without a refused request.
enum RotationAdvice {
    static let text = """
        The order of a rotation of signing keys:
        1. published: add it and serve the new key set (jwks). Verifiers keep the old set for up to 6 h.
        2. after 7 h, active: --activate KID. The previous key becomes published.
        3. when the last token of the old key has expired (its ttl, 7 d at most), remove it.
        Compromised: set "state": "revoked" in worker.json. It leaves the set; its tokens are refused at
        once. If no other key is active, exchanges are deferred: --add makes one.
        Of sealing keys:
        1. last in its list: add it, and wait until every worker has reloaded and can open with it.
        2. first in its list: --activate ID. The first one seals.
        3. old keys stay forever: artifacts live as long as their devices.
        Of challenge keys the same; remove an old one when its last challenge has expired (challenges.ttl).
        Running workers reload changes within seconds, or at once on SIGHUP, and log each reload.
        """
}

/// `new-keys`: makes keys, or puts one into use.
struct NewKeysCommand {
    private let directory: String
    private let kinds: Set<FreshKeys.Kind>?
    private let algorithms: [TokenSettings.Algorithm]
    private let rsaBits: Int?
    private let token: FreshKeys.Token?
    private let adds: Bool
    private let activated: String?
    private let isEarly: Bool
    private let console: Console

    init(_ arguments: Arguments, _ console: Console) throws(UsageFault) {
        self.console = console
        directory = try arguments.required("--config")
        kinds = try Self.kinds(arguments)
        algorithms = try Self.algorithms(arguments)
        rsaBits = try Self.rsaBits(arguments)
        let pin = arguments.string("--pin")
        if let uri = arguments.string("--token") { token = try Self.token(uri, pin: pin) } else { token = nil }
        guard pin == nil || token != nil else { throw UsageFault("--pin needs --token.") }
        guard token == nil || kinds == [.signing] else {
            throw UsageFault("--token is for signing keys: add --only signing.")
        }
        adds = arguments.has("--add")
        activated = arguments.string("--activate")
        isEarly = arguments.has("--early")
        guard activated == nil || (!adds && kinds == nil && algorithms.isEmpty && rsaBits == nil) else {
            throw UsageFault("--activate makes no key: omit --add, --only, --algorithm and --rsa-bits.")
        }
        guard rsaBits == nil || kinds?.contains(.signing) ?? true else {
            throw UsageFault("--rsa-bits applies to signing keys: add signing to --only, or omit --rsa-bits.")
        }
        guard rsaBits == nil || algorithms.isEmpty || algorithms.contains(.rs256) else {
            throw UsageFault("--rsa-bits applies to RSA keys: add --algorithm RS256, or omit --rsa-bits.")
        }
        guard algorithms.isEmpty || kinds?.contains(.signing) ?? true else {
            throw UsageFault("--algorithm applies to signing keys: add signing to --only, or omit --algorithm.")
        }
        guard activated != nil || !isEarly else { throw UsageFault("--early needs --activate.") }
    }

    private static func token(_ uri: String, pin: String?) throws(UsageFault) -> FreshKeys.Token {
        guard pin?.hasPrefix("/") ?? true else { throw UsageFault("--pin must be an absolute path.") }
        do throws(CommandFault) { return try FreshKeys.Token(uri, pin: pin) } catch { throw UsageFault(error.sentence) }
    }

    private static func kinds(_ arguments: Arguments) throws(UsageFault) -> Set<FreshKeys.Kind>? {
        guard let text = arguments.string("--only") else { return nil }
        let kinds = try text.split(separator: ",", omittingEmptySubsequences: false).map { name throws(UsageFault) in
            guard let kind = FreshKeys.Kind(rawValue: String(name))
            else { throw UsageFault("--only: '\(String(name).printable)' is not signing, sealing or challenge.") }
            return kind
        }
        return Set(kinds)
    }

    private static func algorithms(_ arguments: Arguments) throws(UsageFault) -> [TokenSettings.Algorithm] {
        var algorithms: [TokenSettings.Algorithm] = []
        for name in arguments.strings("--algorithm") {
            guard let algorithm = TokenSettings.Algorithm(rawValue: name)
            else { throw UsageFault("--algorithm must be RS256 or ES256, not '\(name.printable)'.") }
            if !algorithms.contains(algorithm) { algorithms.append(algorithm) }
        }
        return algorithms
    }

    private static func rsaBits(_ arguments: Arguments) throws(UsageFault) -> Int? {
        guard let bits = try arguments.integer("--rsa-bits") else { return nil }
        guard FreshKeys.rsaSizes.contains(bits) else {
            throw UsageFault("--rsa-bits must be 2048, 3072 or 4096, not \(bits).")
        }
        return bits
    }

    func run() throws -> Int32 {
        // Loads the key files too: adding to a broken list would only hide its fault.
        let loaded = try LoadedConfiguration.load(directory: directory, absentKeys: .away)
        if let activated { try activate(activated, loaded) } else { try make(loaded.configuration) }
        return ExitCode.done
    }

    private func make(_ configuration: Configuration) throws {
        let inUse = TokenSettings.Algorithm.allCases.filter { algorithm in
            configuration.registry.apps.contains { $0.tokens.algorithm == algorithm }
        }
        var wanted = kinds ?? Set(FreshKeys.Kind.allCases)
        // A gateway that makes the challenges needs no challenge key of ours.
        if kinds == nil, configuration.challenges.mode == .external { wanted.remove(.challenge) }
        let made = algorithms.isEmpty ? (inUse.isEmpty ? [.rs256] : inUse) : algorithms
        guard rsaBits == nil || made.contains(.rs256) else {
            throw UsageFault("--rsa-bits: the apps use ES256 alone; add --algorithm RS256, or omit --rsa-bits.")
        }
        let fresh = try FreshKeys(
            wanted,
            algorithms: made,
            rsaBits: rsaBits ?? FreshKeys.rsaBits,
            token: token,
            beside: configuration
        )
        try fresh.write(to: directory)
        if adds {
            do { try edit { $0.add(fresh) } } catch {
                fresh.remove(from: directory)
                throw error
            }
        }
        for file in fresh.files { console.print("wrote \(directory)/\(file)") }
        tell(fresh)
        console.print("\n\(RotationAdvice.text)")
    }

    /// Prints the entries: as written to worker.json, or as the user has to add them.
    private func tell(_ fresh: FreshKeys) {
        console.print(adds ? "\nAdded to worker.json:" : "\nFor worker.json, each at the end of its list:")
        let lists = [
            ("signingKeys", fresh.signing.map(\.line)), ("sealingKeys", fresh.sealing.map(\.line)),
            ("challenges.keys", fresh.challenges.map(\.line)),
        ]
        for (list, keys) in lists {
            for key in keys { console.print("  \(list): \(key)") }
        }
    }

    private func activate(_ id: String, _ loaded: LoadedConfiguration) throws {
        let tokens = loaded.keys.rings.tokens
        guard !tokens.isRevoked(id) else {
            throw UsageFault(
                "signing key \(id.printable) is revoked: make a new one with \(AttestWorker.name) new-keys."
            )
        }
        guard !loaded.keys.silent.contains(where: { $0.kid == id }) else {
            throw CommandFault("signing key \(id.printable) is away: activate it when its token signs.")
        }
        if let key = tokens[id], key.state == .published, tokens.active(key.algorithm) != nil, !isEarly {
            let now = WallClock.milliseconds()
            guard let made = loaded.keys.signingFilesModifiedAt[id] else {
                throw CommandFault(
                    "nothing tells the age of signing key \(id.printable): use --early once it was published for 7 h, or say in worker.json "
                        + "when it was \"published\"."
                )
            }
            let age = max(0, now - made)
            let rest = PublicationRule.leadMilliseconds - age
            guard rest <= 0 else {
                throw CommandFault(
                    "signing key \(id) is only \(PublicationRule.span(age)) old: wait \(PublicationRule.span(rest + 59_999)), "
                        + "or use --early: verifiers that still have the old key set then refuse its tokens."
                )
            }
        }
        try edit { lists in
            guard lists.activate(id) else { throw UsageFault("worker.json lists no key \(id.printable).") }
        }
        console.print("\(id) is now the key in use; the previous one stays listed")
    }

    /// Replaces worker.json after the new one was loaded with all its keys.
    private func edit(_ change: (inout KeyListEdit) throws -> Void) throws {
        let name = "worker.json"
        var files = ConfigurationFiles(directory: directory)
        let old = try files.read(name, remedy: "give the config directory a readable \(name)")
        var edited = try KeyListEdit(old)
        try change(&edited)
        files.replacing[name] = edited.bytes
        _ = try LoadedConfiguration.load(files, absentKeys: .away)
        try NewFile.replace("\(directory)/\(name)", edited.bytes)
    }
}
