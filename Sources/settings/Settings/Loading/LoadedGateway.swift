package import AppCheck
internal import Pipeline

/// The inputs of a gateway's start: the configuration, the challenge keys and its own files. Signing and sealing keys
/// are not read, and their files may be absent.
package struct LoadedGateway: Sendable {
    package let configuration: Configuration
    package let challenges: ChallengeKeyRing
    /// The file of `gateway.publicKeys`; nil = none is named.
    package private(set) var publicKeys: [UInt8]?
    /// The file of `gateway.verifiers`; nil = none is named.
    package private(set) var verifiers: [UInt8]?
    /// Other changes since the start, which wait for a restart.
    package private(set) var postponed: [String] = []

    static let mostBytes = 1 << 20

    /// - Parameter running: what a running gateway has; nil at its start.
    /// - Throws: ``ConfigurationFault`` for the first thing that is wrong.
    package static func load(
        directory: String,
        after running: LoadedGateway? = nil
    ) throws(ConfigurationFault) -> LoadedGateway {
        try load(ConfigurationFiles(directory: directory), after: running)
    }

    package static func load(
        _ files: ConfigurationFiles,
        after running: LoadedGateway? = nil
    ) throws(ConfigurationFault) -> LoadedGateway {
        var configuration = try Configuration.load(files)
        var postponed: [String] = []
        if let old = running?.configuration {
            (configuration, postponed) = try old.renewed(by: configuration)
        }
        try checkPorts(configuration)
        guard configuration.challenges.mode == .sealed else {
            throw ConfigurationFault(
                "worker.json: challenges.mode is external: this gateway makes sealed challenges; set it to sealed."
            )
        }
        guard configuration.delivery == .exactlyOnce || configuration.gateway.atLeastOnce else {
            throw ConfigurationFault(
                "worker.json: delivery is at-least-once: two answers to a call may differ; set gateway.atLeastOnce to "
                    + "true if your clients can live with that."
            )
        }
        return LoadedGateway(
            configuration: configuration,
            challenges: try ExchangeKeys.challenges(configuration),
            publicKeys: try read(configuration.gateway.publicKeys, "publicKeys"),
            verifiers: try read(configuration.gateway.verifiers, "verifiers"),
            postponed: postponed
        )
    }

    /// Doubtful points that do not keep a gateway from running: one line each.
    ///
    /// - Parameter now: milliseconds since 1970.
    package func warnings(now: Int64) -> [String] {
        var lines =
            configuration.doubts + NameDoubts.warnings(configuration.registry)
            + DebugTokens.warnings(configuration.registry, now: now)
            + KeySetDoubts.warnings(configuration, set: publicKeys)
        if challenges.active == nil {
            lines.append(
                "worker.json lists no challenge key: challenges get 503, and the gateway is not ready; add one with "
                    + "attest-worker new-keys --add --only challenge"
            )
        }
        if publicKeys == nil {
            lines.append(
                "gateway.publicKeys names no file: no key set is served; write one with attest-worker jwks"
            )
        }
        if publicKeys != nil, configuration.registry.hasSeveralProjects {
            lines.append(
                "apps.json lists apps of several projects: /v1/verify answers 400 where a proxy names neither app nor project"
            )
        }
        if let verifiers, !verifiers.contains(where: { $0 > 0x20 }) {
            lines.append("gateway.verifiers names an empty file: no caller has a secret; write one line for each")
        }
        guard configuration.delivery == .atLeastOnce else { return lines }
        return lines + [
            "delivery is at-least-once: after a fault two answers to a call may differ, and the first is sent"
        ]
    }

    /// A file that only the gateway reads.
    package enum OwnFile: String, CaseIterable { case publicKeys, verifiers }

    /// The same with this file as it is now, for when another one is bad: a revoked key or caller must not wait for that.
    ///
    /// - Returns: nil where it is the same, or cannot be read.
    package func renewing(_ file: OwnFile) -> LoadedGateway? {
        var next = self
        switch file {
        case .publicKeys: next.publicKeys = try? Self.read(configuration.gateway.publicKeys, file.rawValue)
        case .verifiers: next.verifiers = try? Self.read(configuration.gateway.verifiers, file.rawValue)
        }
        let (old, new) = file == .publicKeys ? (publicKeys, next.publicKeys) : (verifiers, next.verifiers)
        return new == nil || new == old ? nil : next
    }

    /// - Throws: where calls and metrics would listen at one place.
    private static func checkPorts(_ configuration: Configuration) throws(ConfigurationFault) {
        let (own, port) = (configuration.gateway, configuration.gateway.metricsPort ?? configuration.metricsPort)
        let addresses = [own.address, configuration.metricsAddress]
        guard own.port != 0, own.port == port,
            Set(addresses).count == 1 || addresses.contains(where: { ["0.0.0.0", "::"].contains($0) })
        else { return }
        let other = own.metricsPort == nil ? "metrics.port" : "gateway.metrics.port"
        throw ConfigurationFault(
            "worker.json: gateway.port and \(other) are both \(port): set another gateway.metrics.port."
        )
    }

    private static func read(_ path: String?, _ name: String) throws(ConfigurationFault) -> [UInt8]? {
        guard let path else { return nil }
        do throws(CommandFault) {
            let bytes = try WholeFile.read(path, most: mostBytes)
            guard bytes.count <= mostBytes else {
                throw CommandFault("worker.json: gateway.\(name): \(path.printable) is larger than \(mostBytes) bytes.")
            }
            return bytes
        } catch { throw ConfigurationFault("worker.json: gateway.\(name): \(error.sentence)") }
    }

    /// Every file whose change asks for a reload.
    package func paths(in directory: String) -> Set<String> {
        let own = [configuration.gateway.publicKeys, configuration.gateway.verifiers]
        let named = (configuration.challengeKeys.map(\.source.path) + own).compactMap(\.self)
        return ConfigurationFiles.paths(in: directory).union(named)
    }
}
