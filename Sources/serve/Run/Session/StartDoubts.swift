internal import AppAttest
internal import AppCheck
internal import HTTP
internal import Kafka
internal import Settings

/// What is doubtful about a configuration on this machine, with these libraries; a test chooses its own.
struct StartDoubts {
    /// Processors that the process may use.
    var cores: Int
    /// Connections that the process's hard limit of open files allows.
    var connections: Int
    /// Whether SCRAM works with every broker.
    var isScramWhole: Bool

    static var here: StartDoubts {
        StartDoubts(
            cores: UsableCores.count,
            connections: OpenFiles.mostConnections,
            isScramWhole: LibraryVersion.current.scramSuitsKafka4
        )
    }

    /// More lanes only take turns.
    private static let mostLanesPerCore = 4
    /// The App ID of the shipped apps.json.
    private static let placeholder = "ABCDE12345.com.example.app"

    func ofWorker(_ configuration: Configuration) -> [String] {
        var lines: [String] = []
        if configuration.lanes > cores * Self.mostLanesPerCore {
            lines.append(
                "worker.json: lanes is \(configuration.lanes), and the process may use \(cores.counted("processor")): the "
                    + "lanes take turns, and each has memory of its own; 0 is one for each processor"
            )
        }
        return lines + placeholders(configuration)
    }

    func ofGateway(_ configuration: Configuration) -> [String] {
        let wanted = configuration.gateway.connections
        guard wanted > connections else { return [] }
        return [
            "worker.json: gateway.connections is \(wanted), and the limit of open files allows \(connections): more wait; raise "
                + "LimitNOFILE in the unit, or ulimit -Hn"
        ]
    }

    /// What is worth a line of `--check` though nothing is wrong.
    func notes(_ configuration: Configuration) -> [String] {
        var lines: [String] = []
        if configuration.signingKeys.isEmpty, configuration.sealingKeys.isEmpty, configuration.challengeKeys.isEmpty {
            lines.append("no key is listed: verifyAttestation and verifyAssertion are judged, exchanges are deferred")
        }
        let isScram = configuration.kafkaProperties.contains {
            ["sasl.mechanism", "sasl.mechanisms"].contains($0.name) && $0.value.uppercased().hasPrefix("SCRAM")
        }
        if isScram, !isScramWhole {
            lines.append("SCRAM: librdkafka \(LibraryVersion.text) is refused by Kafka 4 and newer; 2.6.1 is not")
        }
        return lines
    }

    /// The shipped example in a configuration for real devices: with keys, and no lab's root.
    private func placeholders(_ configuration: Configuration) -> [String] {
        guard !configuration.signingKeys.isEmpty, LabAnchors.warnings(configuration.anchors).isEmpty else { return [] }
        return configuration.registry.apps.filter { app in
            app.expectations.appIDs.contains { $0.text == Self.placeholder }
        }.map { app in
            "apps.json: \(app.label.printable): appleAppIds: \(Self.placeholder) is the example's: no device of yours has it; "
                + "list your team and bundle identifier"
        }
    }
}

extension LoadedConfiguration {
    /// The keys whose program writes another one when it runs again: artifacts, challenges and tokens would not survive a
    /// restart. Runs each program once more.
    func unsteadyKeys() throws(ConfigurationFault) -> [String] {
        let listed =
            configuration.signingKeys.map(\.command)
            + (configuration.sealingKeys + configuration.challengeKeys).map(\.command)
        guard listed.contains(where: { !$0.isEmpty }) else { return [] }
        return keys.differing(from: try ExchangeKeys.load(configuration, after: keys)).map {
            "worker.json: the program of \($0) writes another key each time: a restart loses the one before"
        }
    }
}
