package import AppAttest
internal import JSON

/// The settings of worker.json that only those who exchange receipts at Apple read.
package struct RiskSettings: Sendable, Equatable {
    package var keys: [DeviceCheckEntry] = []
    package var callsPerSecond = 10.0
    /// The age of a receipt at its exchanges.
    package var firstMilliseconds: Int64 = 60_000
    package var againMilliseconds: Int64 = 604_800_000
    package var lateMilliseconds: Int64 = 2_592_000_000
    package var production = "https://data.appattest.apple.com/v1/attestationData"
    package var development = "https://data-development.appattest.apple.com/v1/attestationData"
    /// The URL of a proxy for CONNECT; nil = none.
    package var proxy: String?
    /// A PEM file of roots that are trusted instead of the system's; nil = those.
    package var authorities: String?

    package init() {}

    package func endpoint(_ environment: Environment) -> String {
        environment == .production ? production : development
    }
}

/// A team's DeviceCheck key as worker.json names it: its file is read by those who call Apple alone.
package struct DeviceCheckEntry: Sendable, Equatable {
    package var team = ""
    package var kid = ""
    package var file = ""
    /// nil = the team's ID alone.
    package var appIDPrefixes: [String]?

    /// The prefixes of the App IDs for whose receipts the key speaks.
    package var prefixes: [String] { appIDPrefixes ?? [team] }
}

extension WorkerFile {
    static let risk = keys + visits + endpoints

    private static let keys: [Setting<Configuration>] = [
        Setting(
            "risk.keys",
            \.risk.keys,
            of: { _ in DeviceCheckEntry() },
            [
                Setting("team", \.team, .name, range: "not empty, unique").means("The ID of the team."),
                Setting("kid", \.kid, .name).means("The ID of the key, as Apple shows it."),
                Setting("file", \.file, .path).means("See [Configuration, Key files](Configuration.md#key-files)."),
                Setting("appIDPrefixes", \.appIDPrefixes, .prefixes, standard: "the team").means(
                    "What is before the first dot of the App IDs. Old App IDs have other prefixes than the team's ID."
                ),
            ],
            check: check
        ).means("Keys with the service DeviceCheck, one for each team. No worker and no gateway reads their files.")
    ]

    private static let visits: [Setting<Configuration>] = [
        Setting("risk.callsPerSecond", \.risk.callsPerSecond, .callsPerSecond, reloads: true)
            .means("Calls to Apple at most, over all processes and both environments."),
        Setting("risk.first", \.risk.firstMilliseconds, .duration(1_000...86_400_000))
            .means("Age at which the receipt of an attestation is exchanged first."),
        Setting("risk.again", \.risk.againMilliseconds, .duration(86_400_000...7_776_000_000))
            .means("Age at which a receipt is exchanged again, but never before its own Not Before."),
        Setting("risk.late", \.risk.lateMilliseconds, .duration(86_400_000...7_776_000_000))
            .means("Age at which a receipt is tried once more that brought no other until then."),
    ]

    private static let endpoints: [Setting<Configuration>] = [
        Setting("risk.endpoints.production", \.risk.production, .endpoint)
            .means("Where receipts of the environment `production` are exchanged."),
        Setting("risk.endpoints.development", \.risk.development, .endpoint)
            .means("Where those of `development` are."),
        Setting("risk.proxy", \.risk.proxy, .optional(.proxy, absent: "none"))
            .means("A proxy that is asked with CONNECT. No variable of the environment names one."),
        Setting("risk.authorities", \.risk.authorities, .optional(.file, absent: "the system's"))
            .means("A PEM file of roots that are trusted for these calls instead of the system's."),
    ]

    @Sendable
    private static func check(
        _ value: ConfigurationValue,
        _ entry: DeviceCheckEntry,
        _ others: [DeviceCheckEntry]
    ) throws(ConfigurationFault) {
        guard !others.contains(where: { $0.team == entry.team })
        else { throw value.fault("appears twice; name one key for each team", at: "team") }
        for prefix in entry.prefixes {
            guard let other = others.first(where: { $0.prefixes.contains(prefix) }) else { continue }
            let problem = "\(prefix.printable) is a prefix of team \(other.team.printable) already; keep one of them"
            throw value.fault(problem, at: "appIDPrefixes")
        }
    }
}

extension SettingKind<[String]?> {
    fileprivate static var prefixes: Self {
        let schema = JSONSchema.list(of: JSONSchema.string(pattern: "^[^.]+$"), atLeast: 1)
        return SettingKind(
            type: "list of strings",
            range: "at least one, without dots",
            schema: schema,
            text: { _ in "none" }
        ) { value throws(ConfigurationFault) in
            let prefixes = try value.strings()
            guard !prefixes.isEmpty, prefixes.allSatisfy({ !$0.isEmpty && !$0.contains(".") })
            else { throw value.fault("must be a list of App ID prefixes, at least one and without dots") }
            return prefixes
        }
    }
}

extension SettingKind<Double> {
    fileprivate static var callsPerSecond: Self {
        var schema = JSONSchema.number(0...1_000)
        schema["minimum"] = .word("0.1")
        return SettingKind(
            "number",
            range: "0.1 to 1000",
            schema: schema,
            problem: "must be a number from 0.1 to 1000",
            text: { $0 == $0.rounded() ? "`\(Int($0))`" : "`\($0)`" }
        ) { node in node.numberText.flatMap { Double($0) }.flatMap { (0.1...1_000).contains($0) ? $0 : nil } }
    }
}

extension SettingKind<String> {
    fileprivate static var endpoint: Self {
        .string(
            range: "an https URL; http for loopback",
            schema: JSONSchema.string(pattern: PlainURL.endpointPattern),
            problem: "must be a URL such as https://host/path; http is for 127.0.0.1 and ::1 alone"
        ) { text in
            guard let url = PlainURL(text) else { return false }
            return url.isSecure || url.isLoopback
        }
    }

    fileprivate static var proxy: Self {
        .string(
            range: "http://host:port",
            schema: JSONSchema.string(pattern: PlainURL.proxyPattern),
            problem: "must be a proxy such as http://proxy:3128, without a name or a password"
        ) { text in
            guard let url = PlainURL(text) else { return false }
            return !url.isSecure && url.port != nil && url.path.isEmpty
        }
    }
}
