internal import AppAttest
internal import AppCheck
internal import Broker
package import Risk
internal import Run
package import Settings

/// A configuration with the files that a refresher reads: the DeviceCheck keys, and no signing, sealing or challenge
/// key.
package struct LoadedRefresher: ProgramFiles, Sendable {
    package var configuration: Configuration
    var rules: RefreshRules
    package var postponed: [String] = []

    /// - Parameter running: what runs: only what a reload may change is taken from the files.
    /// - Throws: ``ConfigurationFault`` for what is wrong.
    package static func load(
        _ files: ConfigurationFiles,
        after running: LoadedRefresher? = nil
    ) throws(ConfigurationFault) -> LoadedRefresher {
        var configuration = try Configuration.load(files)
        var postponed: [String] = []
        if let old = running?.configuration {
            (configuration, postponed) = try old.renewed(by: configuration)
        }
        try check(configuration)
        let rules = try RefreshRules(configuration)
        return LoadedRefresher(configuration: configuration, rules: rules, postponed: postponed)
    }

    private static func check(_ configuration: Configuration) throws(ConfigurationFault) {
        guard configuration.topics.receipts != nil else {
            throw ConfigurationFault(
                "worker.json names no topic for receipts: set topics.receipts; without it there is nothing to exchange."
            )
        }
        guard !configuration.embeddedBroker else {
            throw ConfigurationFault(
                "worker.json: the embedded broker lives inside of its worker: a refresher needs a broker of its own."
            )
        }
        try DeviceCheckKeys.checkApps(configuration)
    }

    package var warnings: [String] {
        guard rules.apps.isEmpty else { return configuration.doubts }
        return configuration.doubts + ["apps.json: no app's risk.mode is on: no receipt is exchanged"]
    }

    package var appCount: Int { rules.apps.count }
    package var urgent: [(files: LoadedRefresher, rules: RefreshRules, sentence: String)] { [] }

    package func makeRules() -> RefreshRules { rules }

    package func paths(in directory: String) -> Set<String> {
        Set(["worker.json", "apps.json", "kafka.properties"].map { "\(directory)/\($0)" }).union(
            DeviceCheckKeys.paths(configuration)
        )
    }
}

extension RefreshRules {
    /// What a refresher works by, its keys read from their files.
    init(_ configuration: Configuration) throws(ConfigurationFault) {
        let (apps, risk) = (configuration.registry.apps.filter(\.risk.keepsReceipts), configuration.risk)
        self.init(
            keys: try DeviceCheckKeys.load(configuration),
            apps: Set(apps.map(\.name)),
            callsPerSecond: risk.callsPerSecond,
            lines: LineSettings(
                first: risk.firstMilliseconds,
                again: risk.againMilliseconds,
                late: risk.lateMilliseconds
            )
        )
    }
}
