internal import AppAttest
package import AppCheck
internal import Crypto
internal import Glibc

/// Keys that were just made, with the entries that worker.json needs for them.
package struct FreshKeys {
    package enum Kind: String, CaseIterable { case signing, sealing, challenge }

    /// The size of an RSA signing key if none was asked for, in bits. 3,072 bits, as Google's keys have, cost 2.7 times
    /// as much for each token.
    package static let rsaBits = 2048
    package static let rsaSizes = [2048, 3072, 4096]
    /// The folder of key files within the config directory.
    package static let folder = "keys"

    /// A token in which signing keys are made.
    package struct Token {
        private let name: HSMKeyName
        private let pin: String

        /// - Parameters:
        ///   - uri: names a token, and no key in it.
        ///   - pin: the path of the PIN's file; nil = none.
        package init(_ uri: String, pin: String?) throws(CommandFault) {
            self.pin = pin ?? ""
            do throws(HSMKeyName.Fault) { name = try HSMKeyName(uri, isWhole: false) } catch {
                throw CommandFault("--token \(error.problem).")
            }
        }

        /// Makes a key pair whose label is the `kid`.
        fileprivate func make(_ entry: inout SigningKeyEntry, rsaBits: Int) throws(ConfigurationFault) -> SigningKey {
            let subject = "signing key \(entry.kid.printable)"
            let secret = try pin.isEmpty ? nil : HSMKey.pin(pin, of: subject)
            let key = name.key(entry.kid)
            let kind: SigningKey.Kind = entry.algorithm == .rs256 ? .rsa : .p256
            do throws(HSMFault) {
                let threads = QueueThreads.shared
                let made = try HSMKey.generate(kind, entry.kid, in: name, rsaBits: rsaBits, pin: secret, on: threads)
                (entry.key, entry.pin) = (key, pin)
                entry.published = WallClock.now()
                return SigningKey(made)
            } catch { throw HSMKey.fault(error, key, of: subject) }
        }
    }

    /// Files are named relative to the config directory.
    package private(set) var signing: [SigningKeyEntry] = []
    package private(set) var sealing: [KeyEntry] = []
    package private(set) var challenges: [KeyEntry] = []
    private var contents: [(file: String, bytes: [UInt8])] = []
    private var tokenKeys: [TokenKey] = []

    package var files: [String] { contents.map(\.file) }

    /// Makes a key of each kind, a signing key for each algorithm; writes nothing yet.
    ///
    /// - Parameters:
    ///   - configuration: the present one: its ids are not used again, and a signing key is `published` only if another
    ///     one of its algorithm is active. nil = there is none.
    ///   - rsaBits: of RSA signing keys.
    ///   - token: where signing keys are made at once; nil = in files.
    package init(
        _ kinds: Set<Kind> = Set(Kind.allCases),
        algorithms: [TokenSettings.Algorithm],
        rsaBits: Int = Self.rsaBits,
        token: Token? = nil,
        beside configuration: Configuration?
    ) throws {
        var taken = Set(configuration?.signingKeys.map(\.kid) ?? [])
        for algorithm in kinds.contains(.signing) ? algorithms : [] {
            let isSecond = configuration?.signingKeys.contains { $0.algorithm == algorithm && $0.state == .active }
            var entry = SigningKeyEntry(algorithm: algorithm, state: isSecond == true ? .published : .active)
            let key: SigningKey
            if let token {
                entry.kid = Self.freeName { !taken.contains($0) }
                key = try token.make(&entry, rsaBits: rsaBits)
            } else {
                (entry.kid, key) = try Self.signingKey(algorithm, rsaBits, besides: taken)
                entry.file = "\(Self.folder)/signing-\(entry.kid).pem"
                contents.append((entry.file, key.pem))
            }
            taken.insert(entry.kid)
            signing.append(entry)
            // Its kind is that of its algorithm.
            if let key = try? TokenKey(kid: entry.kid, algorithm: algorithm, key: key) {
                tokenKeys.append(key)
            }
        }
        if kinds.contains(.sealing) { sealing = [add(.sealing, besides: configuration?.sealingKeys ?? [])] }
        if kinds.contains(.challenge) { challenges = [add(.challenge, besides: configuration?.challengeKeys ?? [])] }
    }

    /// The public halves of the signing keys, as `jwks` writes them.
    package var jsonWebKeySet: [UInt8] { ((try? TokenKeyRing(tokenKeys)) ?? TokenKeyRing()).jsonWebKeySet }

    private mutating func add(_ kind: Kind, besides others: [KeyEntry]) -> KeyEntry {
        let taken = Set(others.map { SealingKeyID(of: $0.id) })
        let id = Self.freeName { !taken.contains(SealingKeyID(of: $0)) }
        let entry = KeyEntry(id: id, file: "\(Self.folder)/\(kind.rawValue)-\(id).key")
        contents.append((entry.file, SecretText.encode(SecureRandom.bytes(NamedSecret.byteCount))))
        return entry
    }

    private static func freeName(_ isFree: (String) -> Bool) -> String {
        var name = KeyName.random()
        while !KeyName.isHandy(name) || !isFree(name) { name = KeyName.random() }
        return name
    }

    private static func signingKey(
        _ algorithm: TokenSettings.Algorithm,
        _ rsaBits: Int,
        besides taken: Set<String>
    ) throws(CommandFault) -> (String, SigningKey) {
        while true {
            let key: SigningKey
            do throws(SigningKeyFault) {
                key = try SigningKey.generate(algorithm == .rs256 ? .rsa : .p256, rsaBits: rsaBits)
            } catch { throw CommandFault("no signing key could be made: it \(error).") }
            let kid = KeyName.kid(of: key)
            if KeyName.isHandy(kid), !taken.contains(kid) { return (kid, key) }
        }
    }

    /// Writes the files, readable for their owner alone; if one cannot be written, all are removed.
    package func write(to directory: String) throws(CommandFault) {
        guard !contents.isEmpty else { return }
        let folder = "\(directory)/\(Self.folder)"
        try Folder.make(folder, mode: 0o700)
        var written: [String] = []
        do throws(CommandFault) {
            for content in contents {
                let path = "\(directory)/\(content.file)"
                try NewFile.create(path, content.bytes)
                written.append(path)
            }
        } catch {
            // The path is copied for the call.
            for path in written { _ = unsafe unlink(path) }
            throw error
        }
    }

    package func remove(from directory: String) {
        // The path is copied for the call.
        for file in files { _ = unsafe unlink("\(directory)/\(file)") }
    }
}
