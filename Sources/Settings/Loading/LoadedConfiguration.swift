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
        self.configuration = configuration
        self.keys = keys
    }

    /// - Parameter directory: the config directory.
    /// - Throws: ``ConfigurationFault`` for the first thing that is wrong, key files included.
    package static func load(
        directory: String,
        absentKeys: AbsentKeys = .refused
    ) throws(ConfigurationFault) -> LoadedConfiguration {
        try load(ConfigurationFiles(directory: directory), absentKeys: absentKeys)
    }

    package static func load(
        _ files: ConfigurationFiles,
        absentKeys: AbsentKeys = .refused
    ) throws(ConfigurationFault) -> LoadedConfiguration {
        var stamps = FileStamp.all(ownPaths(in: files.directory))
        let configuration = try Configuration.load(files)
        stamps.merge(FileStamp.all(namedPaths(configuration))) { first, _ in first }
        let keys = try ExchangeKeys.load(configuration, absentKeys: absentKeys)
        var loaded = LoadedConfiguration(configuration: configuration, keys: keys)
        loaded.stamps = stamps
        return loaded
    }

    /// Doubtful points about the keys that do not keep the worker from running: one line each.
    ///
    /// - Parameter now: milliseconds since 1970.
    package func warnings(now: Int64) -> [String] {
        configuration.doubts + DebugTokens.warnings(configuration.registry, now: now)
            + missing + PublicationRule.warnings(keys, now: now)
    }

    /// Keys without which exchanges are deferred. A worker without any key only verifies.
    private var missing: [String] {
        let rings = keys.rings
        let isSealed = configuration.challenges.mode == .sealed
        guard !rings.tokens.keys.isEmpty || !rings.sealing.keys.isEmpty || !rings.challenges.keys.isEmpty
        else { return [] }
        var lines: [String] = []
        for algorithm in TokenSettings.Algorithm.allCases where rings.tokens.active(algorithm) == nil {
            guard let app = configuration.registry.apps.first(where: { $0.tokens.algorithm == algorithm })
            else { continue }
            lines.append("no \(algorithm.rawValue) signing key is active: the exchanges of \(app.name) are deferred")
        }
        if rings.sealing.active == nil { lines.append("worker.json lists no sealing key: exchanges are deferred") }
        if isSealed, rings.challenges.active == nil {
            lines.append("worker.json lists no challenge key: challenges and exchanges are deferred")
        }
        return lines
    }

    /// The keys in use by kind and number, for people.
    package var account: String {
        func count(_ number: Int, _ name: String) -> String { "\(number) \(name)\(number == 1 ? "" : "s")" }
        let rings = keys.rings
        return [
            count(configuration.registry.apps.count, "app"), count(rings.tokens.keys.count, "signing key"),
            count(rings.sealing.keys.count, "sealing key"), count(rings.challenges.keys.count, "challenge key"),
        ].joined(separator: ", ")
    }

    /// Every file whose change asks for a reload.
    package func paths(in directory: String) -> Set<String> {
        Self.ownPaths(in: directory).union(Self.namedPaths(configuration))
    }

    private static func ownPaths(in directory: String) -> Set<String> {
        Set(["worker.json", "apps.json", "kafka.properties"].map { "\(directory)/\($0)" })
    }

    private static func namedPaths(_ configuration: Configuration) -> Set<String> {
        var paths = Set(configuration.signingKeys.map(\.file) + configuration.sealingKeys.map(\.file))
        paths.formUnion(configuration.challengeKeys.map(\.file))
        paths.formUnion((configuration.anchors.attestation + configuration.anchors.receipt).map(\.path))
        return paths
    }
}
