internal import AppAttest
internal import AppCheck
internal import Pipeline

/// Settings that are valid and rarely meant: a row each, with its example in `SettingDoubtTests`. A row warns and keeps
/// nothing from running, so it may only name what no sample and no example of the pages has.
enum SettingDoubts {
    /// A condition, and the sentence where it holds.
    private typealias Row<Value> = (sentence: String, holds: @Sendable (Value) -> Bool)

    static func warnings(_ configuration: Configuration) -> [String] {
        let registered = configuration.registry.apps
        let risks = registered.flatMap { app in risk(app).map { "apps.json: \(app.label.printable): \($0)" } }
        return risks + sentences(worker, configuration).map { "worker.json: \($0)" }
            + sentences(properties, Properties(configuration)).map { "kafka.properties: \($0)" }
            + registered.flatMap { app in
                sentences(apps, app).map { "apps.json: \(app.label.printable): \($0)" }
            }
    }

    private static func sentences<Value>(_ rows: [Row<Value>], _ value: Value) -> [String] {
        rows.filter { $0.holds(value) }.map(\.sentence)
    }

    /// The largest requests of devices have 9,000 bytes.
    private static let leastValueBytes = 12_288
    /// A restart and a rebalance take less.
    private static let leastAge: Int64 = 600_000
    /// A device asks Apple between its challenge and its exchange.
    private static let leastChallengeLife: Int64 = 30_000

    /// Leaves of App Attest of 2023 to 2025 are valid for up to 353 days.
    private static let leastKeyLife: Int64 = 366 * 86_400_000

    private static let worker: [Row<Configuration>] = [
        (
            "state.snapshots is true and delivery is at-least-once, which makes no copies of ledgers",
            { $0.state.snapshots && $0.delivery == .atLeastOnce }
        ),
        (
            "keys.expireAfter is below 366d: an attestation whose challenge no worker judges (challenges.mode external, "
                + "verifyAttestation) may pass again after its key has ended, while its leaf is valid",
            { $0.keys.expire && $0.keys.expireAfterMilliseconds < leastKeyLife }
        ),
        (
            "gateway.trustedProxies has a network of every address: any client names requests, addresses and verifiers; "
                + "list the proxies alone", { $0.gateway.trustedProxies.contains(where: \.isEverything) }
        ),
        (
            "gateway.verifierHeader is set and gateway.verifierNames is empty: no caller verifies by that header; list "
                + "the names", { !$0.gateway.verifierHeader.isEmpty && $0.gateway.verifierNames.isEmpty }
        ),
        (
            "gateway.verifierHeader is set and gateway.trustedProxies is empty: the header is never read; list the proxy",
            { !$0.gateway.verifierHeader.isEmpty && $0.gateway.trustedProxies.isEmpty }
        ),
        (
            "anchors.receipt is empty and an app's receipt is require: each of its attestations is refused; list Apple's "
                + "root of receipts",
            { $0.anchors.receipt.isEmpty && $0.registry.apps.contains { $0.expectations.receipt == .require } }
        ),
        (
            "anchors.receipt is empty and an app's risk.mode is on: no receipt is genuine and no key gets a metric; list "
                + "Apple's root of receipts",
            { $0.anchors.receipt.isEmpty && $0.registry.apps.contains(where: \.risk.keepsReceipts) }
        ),
        (
            "limits.valueBytes is below \(leastValueBytes): attestations of 9,000 bytes become dead letters",
            { $0.limits.valueBytes < leastValueBytes }
        ),
        (
            "clock.maxAge is below 10m: requests that wait for a restart of the workers are refused as too-old",
            { $0.clock.maxAgeMilliseconds < leastAge }
        ),
        (
            "challenges.ttl is below 30s: a device asks Apple between challenge and exchange, and comes too late",
            { $0.challenges.mode == .sealed && $0.challenges.ttlMilliseconds < leastChallengeLife }
        ),
        (
            "challenges.mode is external and challenges.keys lists keys: nothing uses them; remove them, or set the mode "
                + "to sealed",
            { $0.challenges.mode == .external && !$0.challengeKeys.isEmpty && !$0.sealingKeys.isEmpty }
        ),
        (
            "risk.late is not after risk.again: a receipt that brought no other is not tried once more",
            { $0.risk.lateMilliseconds <= $0.risk.againMilliseconds }
        ),
        (
            "embeddedBroker is true and kafka.properties has bootstrap.servers: no broker there is asked; remove one of "
                + "the two", { $0.embeddedBroker && Properties($0)["bootstrap.servers"] != nil }
        ),
    ]

    private static let properties: [Row<Properties>] = [
        (
            "sasl.* and ssl.* have no effect where security.protocol is plaintext, the default: nothing is encrypted and "
                + "no password is sent; set security.protocol",
            { $0["security.protocol", or: "plaintext"] == "plaintext" && ($0.has("sasl.") || $0.has("ssl.")) }
        ),
        (
            "security.protocol=sasl_plaintext with OAUTHBEARER sends the token in clear text, and its reader can use it; set "
                + "sasl_ssl", { $0.sendsSecret(by: "oauthbearer") }
        ),
        (
            "security.protocol=sasl_plaintext with PLAIN sends the password in clear text, and its reader can use it; set "
                + "sasl_ssl", { $0.sendsSecret(by: "plain") }
        ),
        (
            "enable.ssl.certificate.verification is false: any machine between may read passwords and write verdicts",
            { $0["enable.ssl.certificate.verification", or: "true"] == "false" }
        ),
        (
            "ssl.endpoint.identification.algorithm=none: a certificate of any host is taken for the broker's",
            { $0["ssl.endpoint.identification.algorithm", or: "https"] == "none" }
        ),
        (
            "bootstrap.servers is a list of host:port, separated by commas: it has http:// or a semicolon",
            { properties in
                ["bootstrap.servers", "metadata.broker.list"].contains { name in
                    ["http://", "https://", ";"].contains { properties[name, or: ""].contains($0) }
                }
            }
        ),
        (
            "transaction.timeout.ms is below 10000: a partition that changes its leader takes up to 9 s, and the batch is "
                + "aborted", { $0["transaction.timeout.ms"].flatMap { Int($0) }.map { $0 < 10_000 } ?? false }
        ),
        (
            "sasl.oauthbearer.token.command is run by no shell: |, ;, <, > and && are arguments of the program; put "
                + "them into a script",
            {
                $0["sasl.oauthbearer.token.command", or: ""].split(separator: " ").contains {
                    ["|", ";", "<", ">", "&&", "||"].contains($0)
                }
            }
        ),
    ]

    private static let apps: [Row<RegisteredApp>] = [
        (
            "rollout.mode is on, and rollout.percent is 0 or absent: no new device is admitted",
            { $0.rollout.mode == .on && $0.rollout.parts == 0 && $0.rollout.always.isEmpty }
        ),
        (
            "tokenLeeway is counted in whole seconds, and the rest is dropped",
            { $0.tokens.leewayMilliseconds % 1_000 != 0 }
        ),
        (
            "appId looks like a bundle identifier; the App ID of Firebase is such as 1:123456789012:ios:0123456789abcdef",
            { $0.appID.contains(".") && !$0.appID.contains(":") }
        ),
    ]

    private static let leastRisk: UInt16 = 5

    /// Risk policies that refuse honest devices, or that a hostile one avoids.
    private static func risk(_ app: RegisteredApp) -> [String] {
        guard let most = app.risk.mostServed else { return [] }
        var problems: [String] = []
        // Reinstalling, restoring and moving to a new device count too.
        if most < leastRisk {
            problems.append(
                "risk.above is \(most): devices whose users have reinstalled the app a few times in 30 days are refused; set "
                    + "it to \(leastRisk) or more, or risk.mode to report"
            )
        }
        // Apple signs the receipt apart from the attestation.
        if app.expectations.receipt != .require {
            problems.append(
                "risk.mode is refuse and receipt is report: a device that leaves the receipt out never has a metric and is "
                    + "served; set receipt to require"
            )
        }
        return problems
    }

    /// The properties by their names, the last of a name first.
    private struct Properties {
        private let pairs: [(name: String, value: String)]

        init(_ configuration: Configuration) { pairs = configuration.kafkaProperties }

        subscript(name: String) -> String? { pairs.last { $0.name == name }?.value }
        subscript(name: String, or standard: String) -> String { (self[name] ?? standard).lowercased() }
        func sendsSecret(by mechanism: String) -> Bool {
            self["security.protocol", or: ""] == "sasl_plaintext"
                && ["sasl.mechanism", "sasl.mechanisms"].contains { self[$0, or: ""] == mechanism }
        }
        func has(_ beginning: String) -> Bool { pairs.contains { $0.name.hasPrefix(beginning) } }
    }
}
