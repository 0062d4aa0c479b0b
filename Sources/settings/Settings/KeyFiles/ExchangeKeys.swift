internal import AppAttest
package import AppCheck
internal import Crypto

/// The keys that a configuration names, read from their files. Immutable; a reload makes new ones.
package struct ExchangeKeys: Sendable {
    /// The keys as the pipeline uses them.
    package internal(set) var rings: KeyRings
    /// The time of each file's last change by `kid`, or what worker.json says of a key without a file, in milliseconds since
    /// 1970.
    package let signingFilesModifiedAt: [String: Int64]
    /// The secrets behind the rings, in the order of the configuration: a reload compares them.
    package let sealing: [NamedSecret]
    package let challenges: [NamedSecret]

    /// Keys whose files a replay does not have, each with its kind: `sealing key k1`.
    package let absent: [String]
    /// Signing keys whose tokens were away.
    package let silent: [SilentKey]

    /// A warning about the absent keys; nil = none is absent.
    package var absenceWarning: String? {
        guard !absent.isEmpty else { return nil }
        let names = absent.prefix(3).joined(separator: ", ") + (absent.count > 3 ? " and \(absent.count - 3) more" : "")
        return
            "\(names) cannot be read here (programs run with --run-programs alone): requests that need them are deferred"
    }

    /// Reads every key file of the configuration except those of revoked keys.
    ///
    /// - Parameter running: keys inside tokens that are open already stay open, or away: a reload needs no token.
    /// - Throws: ``ConfigurationFault`` for the first file that is missing, open to others or of the wrong kind.
    package static func load(
        _ configuration: Configuration,
        absentKeys: AbsentKeys = .refused,
        runsPrograms: Bool = true,
        after running: ExchangeKeys? = nil
    ) throws(ConfigurationFault) -> ExchangeKeys {
        var (configuration, absent) = (configuration, AbsentKeyFiles())
        if absentKeys == .tolerated {
            absent = AbsentKeyFiles(leaving: &configuration) { $0.isAbsent(runsPrograms: runsPrograms) }
        }
        if !runsPrograms { try refusePrograms(configuration) }
        let (tokens, modifiedAt, silent) = try signing(
            configuration,
            absent: absent.signing,
            isSpared: { kid, isSilence in
                let isOld = running?.silent.contains { $0.kid == kid } ?? false
                return absentKeys == .away || isSilence && (absentKeys == .silent || isOld)
            },
            after: running
        )
        let sealing = try secrets(configuration.sealingKeys, "sealing key")
        let challenges = try secrets(configuration.challengeKeys, "challenge key")
        return ExchangeKeys(
            rings: KeyRings(
                tokens: tokens,
                sealing: try ring(sealing, "sealingKeys", absent: absent.sealing),
                challenges: try ring(challenges, "challenges.keys", absent: absent.challenges)
            ),
            signingFilesModifiedAt: modifiedAt,
            sealing: sealing,
            challenges: challenges,
            absent: absent.names,
            silent: silent
        )
    }

    /// - Throws: where a program would write a key: one may have been sent the configuration.
    package static func refusePrograms(_ configuration: Configuration) throws(ConfigurationFault) {
        var rest = configuration
        let written = AbsentKeyFiles(leaving: &rest) { if case .program = $0 { true } else { false } }
        guard let name = written.names.first else { return }
        throw ConfigurationFault("worker.json: \(name) is written by a program: --run-programs runs it.")
    }

    /// The signing keys alone.
    ///
    /// - Parameters:
    ///   - absent: `kid`s that are not in the configuration any more.
    ///   - isSpared: whether a key may be left out whose token is away, or only does not answer.
    ///   - triesLast: whether to log in where one more wrong PIN locks the token.
    package static func signing(
        _ configuration: Configuration,
        absent: [String] = [],
        isSpared: (_ kid: String, _ isSilence: Bool) -> Bool = { _, _ in false },
        after running: ExchangeKeys? = nil,
        triesLast: Bool = false
    ) throws(ConfigurationFault) -> (ring: TokenKeyRing, modifiedAt: [String: Int64], silent: [SilentKey]) {
        var (keys, silent) = ([TokenKey](), [SilentKey]())
        var modifiedAt: [String: Int64] = [:]
        let limit = Duration.milliseconds(configuration.engine.hsmTimeoutMilliseconds)
        for entry in configuration.signingKeys where entry.state != .revoked {
            let name = "signing key \(entry.kid.printable)"
            let (signer, time): (SigningKey, Int64?)
            modifiedAt[entry.kid] = entry.published?.milliseconds
            do throws(ConfigurationFault) {
                // The start waits for one key of a module that does not answer.
                if let key = entry.key, silent.contains(where: { $0.module == key.module }) {
                    throw HSMKey.fault(.silent, key, of: name)
                }
                (signer, time) = try read(entry, name, within: limit, after: running, triesLast: triesLast)
            } catch {
                guard error.exitCode != ExitCode.usage, let key = entry.key, isSpared(entry.kid, error.isSilence)
                else { throw error }
                let open = { @Sendable in (try? HSMKey.open(key, pin: entry.pin, within: limit, of: name)) != nil }
                silent.append(SilentKey(kid: entry.kid, module: key.module, opens: open))
                continue
            }
            let key = try signingKey(entry, signer, name)
            if let twin = keys.first(where: { $0.key.publicKey.parameters == key.key.publicKey.parameters }) {
                throw KeyFault.fault(name, entry.source.name, "is key \(twin.kid) again; give each kid its own key")
            }
            keys.append(key)
            modifiedAt[entry.kid] = time ?? modifiedAt[entry.kid]
        }
        let revoked = configuration.signingKeys.filter { $0.state == .revoked }
        for key in keys { try check(key, against: revoked) }
        do throws(KeyRingFault) {
            let ring = try TokenKeyRing(keys, revoked: revoked.map(\.kid), absent: absent + silent.map(\.kid))
            assert(absent.allSatisfy { ring[$0] == nil }, "a key whose file is absent signs nothing")
            return (ring, modifiedAt, silent)
        } catch {
            throw ConfigurationFault("worker.json: signingKeys: \(error).")
        }
    }

    /// A compromised key must not return under another `kid`. If its file is gone, it cannot be compared.
    private static func check(_ key: TokenKey, against revoked: [SigningKeyEntry]) throws(ConfigurationFault) {
        for entry in revoked {
            let name = "signing key \(entry.kid.printable)"
            guard case .file(let path) = entry.source, let file = try? KeyFile(path, of: name),
                let old = try? SigningKey(pem: file.bytes), old.publicKey.parameters == key.key.publicKey.parameters
            else { continue }
            let problem = "is revoked, but key \(key.kid.printable) is the same key; make another"
            throw KeyFault.fault(name, path, problem)
        }
    }

    package static func sealing(_ configuration: Configuration) throws(ConfigurationFault) -> SealingKeyRing {
        try ring(try secrets(configuration.sealingKeys, "sealing key"), "sealingKeys")
    }

    /// The challenge keys alone: a gateway has no others.
    package static func challenges(_ configuration: Configuration) throws(ConfigurationFault) -> ChallengeKeyRing {
        try ring(try secrets(configuration.challengeKeys, "challenge key"), "challenges.keys")
    }

    /// The keys that authenticate operators' commands; the others are not read.
    package static func operatorKeys(_ configuration: Configuration) throws(ConfigurationFault) -> OperatorKeys {
        var rings = KeyRings()
        rings.sealing = try sealing(configuration)
        if rings.sealing.keys.isEmpty { rings.challenges = try challenges(configuration) }
        return OperatorKeys(rings)
    }

    /// Reads a key, or opens it where it lies.
    private static func read(
        _ entry: SigningKeyEntry,
        _ name: String,
        within limit: Duration,
        after running: ExchangeKeys?,
        triesLast: Bool
    ) throws(ConfigurationFault) -> (SigningKey, modifiedAt: Int64?) {
        if case .token(let key, let pin) = entry.source {
            let open = running?.rings.tokens.keys.first { other in
                (other.key.held as? HSMKey).map { $0.name == key && !$0.isLost } ?? false
            }
            if let open { return (open.key, nil) }
            return (SigningKey(try HSMKey.open(key, pin: pin, within: limit, of: name, triesLast: triesLast)), nil)
        }
        let input = try KeyInput(entry.source, of: name)
        do throws(SigningKeyFault) { return (try SigningKey(pem: input.bytes), input.modifiedAt) } catch {
            throw KeyFault.fault(name, entry.source.name, "\(error); make another with attest-worker new-keys")
        }
    }

    private static func signingKey(
        _ entry: SigningKeyEntry,
        _ key: SigningKey,
        _ name: String
    ) throws(ConfigurationFault) -> TokenKey {
        do throws(KeyRingFault) {
            let state: TokenKey.State = entry.state == .active ? .active : .published
            return try TokenKey(kid: entry.kid, algorithm: entry.algorithm, state: state, key: key)
        } catch {
            let (kind, other) = key.kind == .rsa ? ("an RSA key", "RS256") : ("a P-256 key", "ES256")
            let problem =
                "is \(kind), but its algorithm is \(entry.algorithm.rawValue); set \(other), or name another file"
            throw KeyFault.fault(name, entry.source.name, problem)
        }
    }

    private static func secrets(_ entries: [KeyEntry], _ kind: String) throws(ConfigurationFault) -> [NamedSecret] {
        var secrets: [NamedSecret] = []
        for entry in entries {
            let name = "\(kind) \(entry.id.printable)"
            let input = try KeyInput(entry.source, of: name)
            let secret: Secret
            do throws(SecretText.Fault) { secret = try SecretText.decode(input.bytes) } catch {
                throw KeyFault.fault(name, entry.source.name, error.problem)
            }
            if let twin = secrets.first(where: { $0.secret.isEqual(to: secret) }) {
                throw KeyFault.fault(name, entry.source.name, "is key \(twin.id.printable) again; make a fresh one")
            }
            secrets.append(NamedSecret(id: entry.id, secret: secret))
        }
        return secrets
    }

    private static func ring<Key>(
        _ secrets: [NamedSecret],
        _ list: String,
        absent: [String] = []
    ) throws(ConfigurationFault) -> SecretRing<Key> {
        do throws(KeyRingFault) { return try SecretRing(secrets, absent: absent) } catch {
            throw ConfigurationFault("worker.json: \(list): \(error).")
        }
    }
}
