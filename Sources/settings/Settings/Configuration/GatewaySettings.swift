internal import JSON

/// The settings of worker.json that only the gateway reads.
package struct GatewaySettings: Sendable, Equatable {
    /// 0 = any free one.
    package var port = 8080
    /// The address in digits; `::` is every address of both kinds.
    package var address = "127.0.0.1"
    /// The port of metrics and readiness; nil = the worker's `metrics.port`.
    package var metricsPort: Int?
    /// Peers whose `X-Request-Id` and names of clients are believed.
    package var trustedProxies: [NetworkPrefix] = []
    /// A JSON Web Key Set; nil = none is served, and no token is verified here.
    package var publicKeys: String?
    /// Names and digests of bearer secrets; nil = no caller has one.
    package var verifiers: String?
    /// The header in which a trusted proxy names its client; empty = none does.
    package var verifierHeader = ""
    package var verifierNames: [String] = []
    package var bundleHeader = BundleHeaderPolicy.count
    /// Calls of devices in a minute; 0 = no limit.
    package var callsPerAddress = 0
    package var callsPerAPIKey = 0
    package var deadlineMilliseconds: Int64 = 30_000
    package var waitingCalls = 10_000
    package var waitingBytes = 64 << 20
    package var connections = 16_384
    /// Whether the gateway serves workers that may answer a request twice.
    package var atLeastOnce = false
}

/// The treatment of a call whose `X-Ios-Bundle-Identifier` is not a bundle of its app.
package enum BundleHeaderPolicy: String, Sendable, CaseIterable {
    case count, require
}

extension WorkerFile {
    static let gateway: [Setting<Configuration>] = [
        Setting("gateway.port", \.gateway.port, .integer(0...65_535))
            .means("Port of the gateway. 0 is any free one: see [Gateway](Gateway.md)."),
        Setting("gateway.address", \.gateway.address, .address)
            .means("IP address in digits that the gateway listens on. `::` is every one. TLS is a proxy's work."),
        Setting(
            "gateway.metrics.port",
            \.gateway.metricsPort,
            .optional(.integer(0...65_535), absent: "that of `metrics.port`")
        ).means(
            "Port of the gateway's metrics and health, so that one directory serves a worker and a gateway on one machine. 0 "
                + "serves nothing."
        ),
        Setting("gateway.trustedProxies", \.gateway.trustedProxies, .networks).means(
            "Proxies whose `X-Request-Id` names a request, whose header names a verifier and whose `X-Forwarded-For` names "
                + "an address: they must overwrite what their clients send."
        ),
        Setting("gateway.publicKeys", \.gateway.publicKeys, .optional(.file, absent: "none"))
            .means("The key set that `jwks` writes. The gateway serves it, verifies by it and reloads it."),
        Setting("gateway.verifiers", \.gateway.verifiers, .optional(.file, absent: "none")).means(
            "Who may use tokens up with a bearer secret: lines of a name, a blank and the secret's SHA-256 in hex. Reloaded."
        ),
        Setting("gateway.verifierHeader", \.gateway.verifierHeader, .headerName)
            .means("The header in which a trusted proxy names its client, by its certificate for example."),
        Setting("gateway.verifierNames", \.gateway.verifierNames, .strings { $0 })
            .means("The names in that header that may use tokens up."),
        Setting("gateway.bundleHeader", \.gateway.bundleHeader, .choice).means(
            "How to treat a call whose `X-Ios-Bundle-Identifier` does not match the app: `count` lets it pass, `require` answers 401."
        ),
        Setting("gateway.callsPerMinute.address", \.gateway.callsPerAddress, .integer(0...1_000_000)).means(
            "Calls of devices that an address may make in a minute at one gateway; more get 429. 0 sets no limit: see "
                + "[Gateway, Rates](Gateway.md#rates)."
        ),
        Setting("gateway.callsPerMinute.apiKey", \.gateway.callsPerAPIKey, .integer(0...1_000_000))
            .means("The same for each key of `apiKeys`."),
        Setting("gateway.deadline", \.gateway.deadlineMilliseconds, .duration(1_000...300_000))
            .means("How long a call waits for its answer before it gets 504."),
        Setting("gateway.waiting.calls", \.gateway.waitingCalls, .integer(1...1_000_000))
            .means("Calls that may wait for answers; more get 503."),
        Setting("gateway.waiting.bytes", \.gateway.waitingBytes, .integer((1 << 20)...(16 << 30)))
            .means("Bytes of those calls, and as many of bodies that are being read."),
        Setting("gateway.connections", \.gateway.connections, .integer(16...1_000_000))
            .means("Open connections; see [Gateway, Limits](Gateway.md#limits)."),
        Setting("gateway.atLeastOnce", \.gateway.atLeastOnce, .boolean).means(
            "Whether the gateway runs with `delivery` `at-least-once`, where two answers to one request may differ."
        ),
    ]
}

extension SettingKind<String> {
    /// A file's path, resolved against the config directory.
    static var file: Self {
        SettingKind(type: "path", schema: JSONSchema.string(atLeast: 1), text: string.text) {
            value throws(ConfigurationFault) in
            let path = try string.read(value)
            guard !path.isEmpty else { throw value.fault("must be a file's path") }
            return value.files.resolve(path)
        }
    }

    /// A token of RFC 9110, in any case.
    fileprivate static var headerName: Self {
        .string(
            range: "a header's name, or empty",
            schema: JSONSchema.string(pattern: "^[A-Za-z0-9-]{0,64}$"),
            problem: "must be a header's name: letters, digits and hyphens, or empty"
        ) { name in
            name.utf8.count <= 64 && name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }
        }
    }
}

extension SettingKind<[NetworkPrefix]> {
    fileprivate static var networks: Self {
        let network = SettingKind<NetworkPrefix>(
            "string",
            schema: JSONSchema.string(pattern: "^[0-9A-Fa-f:.]+(/[0-9]{1,3})?$"),
            problem: "must be an IP address or a network, such as 10.0.0.0/8 or ::1",
            text: { _ in "" }
        ) { node in node.string.flatMap { NetworkPrefix($0) } }
        let kind = "IP addresses or networks, such as 10.0.0.0/8 or ::1"
        return .list("list of strings", range: "addresses or networks in digits", of: kind, network) { $0 }
    }
}
