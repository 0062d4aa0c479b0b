internal import AppAttest
internal import AppCheck
internal import Pipeline

/// A configuration with the keys that it names: everything that a worker starts with.
package struct LoadedConfiguration: Sendable {
    package let configuration: Configuration
    package let keys: ExchangeKeys
    /// The files' stamps from before they were read, by path, so that changes during the reading show; a missing file
    /// has no entry.
    package private(set) var stamps: [String: FileStamp] = [:]

    package init(configuration: Configuration, keys: ExchangeKeys) {
        (self.configuration, self.keys) = (configuration, keys)
    }

    /// - Throws: ``ConfigurationFault`` for the first thing that is wrong, key files included.
    package static func load(
        directory: String,
        absentKeys: AbsentKeys = .refused,
        runsPrograms: Bool = true
    ) throws(ConfigurationFault) -> LoadedConfiguration {
        try load(ConfigurationFiles(directory: directory), absentKeys: absentKeys, runsPrograms: runsPrograms)
    }

    package static func load(
        _ files: ConfigurationFiles,
        absentKeys: AbsentKeys = .refused,
        runsPrograms: Bool = true
    ) throws(ConfigurationFault) -> LoadedConfiguration {
        var stamps = FileStamp.all(ConfigurationFiles.paths(in: files.directory))
        let configuration = try Configuration.load(files)
        stamps.merge(FileStamp.all(namedPaths(configuration))) { first, _ in first }
        let keys = try ExchangeKeys.load(configuration, absentKeys: absentKeys, runsPrograms: runsPrograms)
        var loaded = LoadedConfiguration(configuration: configuration, keys: keys)
        loaded.stamps = stamps
        return loaded
    }

    /// Doubtful points about the keys that do not keep the worker from running: one line each.
    ///
    /// - Parameter now: milliseconds since 1970.
    package func warnings(now: Int64) -> [String] {
        settingsWarnings(now: now) + missingKeyWarnings + keySetWarnings + keys.secretDoubts
            + PublicationRule.warnings(keys, now: now)
    }

    /// The warnings that no key causes.
    private func settingsWarnings(now: Int64) -> [String] {
        // A worker without signing keys serves no client of Google's.
        configuration.doubts
            + (configuration.signingKeys.isEmpty ? [] : NameDoubts.warnings(configuration.registry))
            + DebugTokens.warnings(configuration.registry, now: now)
    }

    private var keySetWarnings: [String] {
        let set = configuration.gateway.publicKeys.flatMap { try? WholeFile.read($0, most: LoadedGateway.mostBytes) }
        return KeySetDoubts.warnings(configuration, set: set, keys.rings.tokens)
    }

    /// The warnings after a reload: those of the settings that are new, and each key that is still missing.
    package func warnings(after running: LoadedConfiguration, now: Int64) -> [String] {
        let (old, taken) = (running.settingsWarnings(now: now), takenKeys(after: running))
        return settingsWarnings(now: now).filter { !old.contains($0) }
            + missingKeyWarnings.filter { !taken.contains($0) } + keySetWarnings
    }

    /// The operations that no longer work because the last active key of a kind is gone: one line for each kind.
    package func takenKeys(after running: LoadedConfiguration) -> [String] {
        missingKeys.filter { running.isActive($0.key) }.map(\.line)
    }

    private enum NeededKey { case signing(TokenSettings.Algorithm), sealing, challenge }

    private func isActive(_ key: NeededKey) -> Bool {
        switch key {
        case .signing(let algorithm): keys.rings.tokens.active(algorithm) != nil
        case .sealing: keys.rings.sealing.active != nil
        case .challenge: keys.rings.challenges.active != nil
        }
    }

    /// Keys without which exchanges are deferred.
    private var missingKeys: [(key: NeededKey, line: String)] {
        var needed: [(key: NeededKey, line: String)] = []
        for algorithm in TokenSettings.Algorithm.allCases {
            guard let app = configuration.registry.apps.first(where: { $0.tokens.algorithm == algorithm })
            else { continue }
            let line = "no \(algorithm.rawValue) signing key is active: the exchanges of \(app.label) are deferred"
            needed.append((.signing(algorithm), line))
        }
        needed.append((.sealing, "worker.json lists no sealing key: exchanges are deferred"))
        if configuration.challenges.mode == .sealed {
            needed.append((.challenge, "worker.json lists no challenge key: challenges and exchanges are deferred"))
        }
        return needed.filter { !isActive($0.key) }
    }

    private var missingKeyWarnings: [String] {
        let rings = keys.rings
        // A worker without any key only verifies.
        guard !rings.tokens.keys.isEmpty || !rings.sealing.keys.isEmpty || !rings.challenges.keys.isEmpty
        else { return [] }
        return missingKeys.map(\.line)
    }

    /// The keys in use by kind and number, for people.
    package var account: String {
        let rings = keys.rings
        return [
            Counted.text(configuration.registry.apps.count, "app"),
            Counted.text(rings.tokens.keys.count, "signing key"),
            Counted.text(rings.sealing.keys.count, "sealing key"),
            Counted.text(rings.challenges.keys.count, "challenge key"),
        ].joined(separator: ", ")
    }

    /// Every file whose change asks for a reload.
    package func paths(in directory: String) -> Set<String> {
        ConfigurationFiles.paths(in: directory).union(Self.namedPaths(configuration))
    }

    private static func namedPaths(_ configuration: Configuration) -> Set<String> {
        var paths = Set(configuration.signingKeys.compactMap(\.source.path))
        paths.formUnion((configuration.sealingKeys + configuration.challengeKeys).compactMap(\.source.path))
        paths.formUnion((configuration.anchors.attestation + configuration.anchors.receipt).map(\.path))
        return paths
    }
}
