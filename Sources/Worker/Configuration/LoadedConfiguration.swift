internal import AppCheck
internal import Foundation

/// A configuration with the keys that it names: all that a worker is started with.
package struct LoadedConfiguration: Sendable {
    package let configuration: Configuration
    package let keys: ExchangeKeys

    /// - Parameter directory: the config directory.
    /// - Throws: ``ConfigurationFault`` for the first thing that is wrong, key files included.
    package static func load(directory: String) throws(ConfigurationFault) -> LoadedConfiguration {
        try load(ConfigurationFiles(directory: directory))
    }

    static func load(_ files: ConfigurationFiles) throws(ConfigurationFault) -> LoadedConfiguration {
        let configuration = try Configuration.load(files)
        return LoadedConfiguration(configuration: configuration, keys: try ExchangeKeys.load(configuration))
    }

    /// What is doubtful about the keys, though the worker can run with them: one line each.
    ///
    /// - Parameter now: milliseconds since 1970.
    package func warnings(now: Int64) -> [String] { missing + PublicationRule.warnings(keys, now: now) }

    /// Keys without which exchanges are deferred. A worker without any key is one that only verifies.
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

    /// How many of what are in use, for people.
    var account: String {
        func count(_ number: Int, _ name: String) -> String { "\(number) \(name)\(number == 1 ? "" : "s")" }
        let rings = keys.rings
        return [
            count(configuration.registry.apps.count, "app"), count(rings.tokens.keys.count, "signing key"),
            count(rings.sealing.keys.count, "sealing key"), count(rings.challenges.keys.count, "challenge key"),
        ].joined(separator: ", ")
    }

    /// Every file whose change asks for a reload.
    var paths: [String] {
        configuration.signingKeys.map(\.file) + configuration.sealingKeys.map(\.file)
            + configuration.challenges.keys.map(\.file) + configuration.anchors.attestation.map(\.path)
            + configuration.anchors.receipt.map(\.path)
    }
}
