internal import AppAttest
internal import AppCheck

struct AppsFile {
    private static let name = "apps.json"

    struct Project {
        let unknownKeys: UnknownKeyPolicy
        var number = ""
        var id: String?
        var apps: [RegisteredApp] = []

        /// An app without limits, but no App ID is accepted.
        var app: RegisteredApp {
            let expectations = Expectations(appIDs: [], environments: Set(Environment.allCases))
            var app = RegisteredApp(projectNumber: number, projectID: id, appID: "", expectations: expectations)
            app.unknownKeys = unknownKeys
            return app
        }
    }

    /// The policy of an app that does not set one.
    let unknownKeys: UnknownKeyPolicy
    var projects: [Project] = []
    var retired: Set<ExactText> = []

    static func read(
        _ files: ConfigurationFiles,
        unknownKeys: UnknownKeyPolicy
    ) throws(ConfigurationFault) -> Registry {
        var values = AppsFile(unknownKeys: unknownKeys)
        try files.root(of: name).read(settings, into: &values)
        let apps = values.projects.flatMap(\.apps)
        try RetiredNames.check(values.retired, against: apps)
        do throws(RegistryFault) {
            return try Registry(apps: apps, retired: values.retired)
        } catch {
            throw ConfigurationFault("\(name): \(error.message); keep one of them.")
        }
    }

    /// The settings in the order of the Configuration page.
    static let settings: [Setting<AppsFile>] = [
        Setting("projects", \.projects, of: { Project(unknownKeys: $0.unknownKeys) }, project).means("Projects."),
        Setting("retired", \.retired, RetiredNames.kind, reloads: true).means(
            "Apps and OAuth clients that are served no longer. A reload that drops an app without naming it here is refused."
        ),
    ]

    private static let project: [Setting<Project>] = [
        Setting("number", \.number, .name).means("Project number, as in paths and tokens."),
        Setting("id", \.id, .optional(.string, absent: "none"), range: "not another project's number or ID")
            .means("Project ID, a second name of the project."),
        Setting("apps", \.apps, of: { $0.app }, app + tokens + devices + risk + rollout + debug, check: isConsistent)
            .means("Apps of the project."),
    ]

    @Sendable
    private static func isConsistent(
        _ value: ConfigurationValue,
        _ app: RegisteredApp,
        _: [RegisteredApp]
    ) throws(ConfigurationFault) {
        guard app.rollout.always.isDisjoint(with: app.rollout.never) else {
            throw value.fault("has a digest in both rollout.always and rollout.never; keep one of them")
        }
        guard !app.risk.keepsReceipts || app.expectations.receipt != .ignore else {
            let mode = app.risk.mode.rawValue
            let problem = "has risk.mode \(mode) and ignores receipts; set receipt to report or require"
            throw value.fault(problem)
        }
        guard app.risk.mode != .refuse || app.risk.above != nil else {
            throw value.fault("has risk.mode refuse and no risk.above; set the greatest metric that is served")
        }
        // The holder of a debug token needs no device: never in an app with the devices of users.
        guard app.debugTokens.isEmpty || !app.expectations.accepts(.production) else {
            throw value.fault("has debugTokens and accepts production; list development alone in environments")
        }
    }

    private static let app: [Setting<RegisteredApp>] = [
        Setting("appId", \.appID, .name, range: "unique in the project")
            .means("App ID of the path, such as `1:123456789012:ios:0123456789abcdef`."),
        Setting("name", \.displayName, .optional(.displayName, absent: "none"))
            .means(
                "Name for people, in reports, logs, `top` and `tail`. Metrics, records and KEYS files have the App ID."
            ),
        Setting("oauthClientIds", \.oauthClientIDs, .strings { $0 }, range: "unique in the file")
            .means("OAuth clients of the app."),
        Setting("apiKeys", \.apiKeys, .optional(.versions, absent: "any"))
            .means(
                "API keys that a gateway accepts in `X-Goog-Api-Key`; any other, or none, gets 401. OAuth clients need none."
            ),
        Setting("appleAppIds", \.expectations.appIDs, .strings { $0.map { AppID($0) } })
            .means("Apple App IDs, with team prefix. One may stand under several apps."),
        Setting("bundleIds", \.bundleIDs, .strings { $0 }).means(
            "Bundle identifiers that callers may send, like those of `appleAppIds`. An App Clip attests by its app's App ID and "
                + "sends its own: see [Gateway, Paths](Gateway.md#paths)."
        ),
        Setting("environments", \.expectations.environments, .environments).means("Environments that the app accepts."),
        Setting(
            "unknownKeys",
            \.unknownKeys,
            .choice,
            standard: "`restore`; with `challenges.mode` `external` `refuse`"
        ).means(
            "What an artifact does whose key the ledger has lost: the key comes back with this assertion's counter, or "
                + "`unknown-key`."
        ),
        Setting("counters.window", \.counterWindow, .integer(RegisteredApp.counterWindows)).means(
            "How far behind its key's highest counter an assertion with a counter that the key has skipped is accepted, once: "
                + "for requests that overtake each other. 0 accepts none; see "
                + "[Threat model](ThreatModel.md#a-counter-window)."
        ),
    ]

    private static let tokens: [Setting<RegisteredApp>] = [
        Setting("tokenTtl", \.tokens.ttlMilliseconds, .duration(TokenSettings.ttlRange))
            .means("Life of session tokens, rounded down to seconds. Limited-use tokens live 300 s."),
        Setting("tokenLeeway", \.tokens.leewayMilliseconds, .duration(TokenSettings.leewayRange)).means(
            "For verifiers whose clocks run behind: tokens begin, and end, so much earlier, in whole seconds. Verifiers refuse "
                + "an `iat` even a second ahead."
        ),
        Setting("tokenAlgorithm", \.tokens.algorithm, .choice)
            .means("Which active signing key signs the app's tokens. Google's SDKs for backends accept RS256 only."),
        Setting("sharedSessionTokens", \.tokens.sharedSessionTokens, .boolean)
            .means("One session token for all requests of the app in one second. Such a token cannot be used up."),
        Setting("replayProtection.sessionTokens", \.tokens.sessionTokens, .choice)
            .means("Whether `verifyAppCheckToken` uses session tokens up or answers `session-token`."),
    ]

    private static let devices: [Setting<RegisteredApp>] = [
        Setting("categories.allow", \.expectations.categories.allow, .optional(.integers, absent: "any"))
            .means("Validation categories that the app accepts."),
        Setting("categories.whenMissing", \.expectations.categories.whenMissing, .choice)
            .means("What an object without a category gets. Systems before 27 have none."),
        Setting("bundleVersions.allow", \.expectations.bundleVersions.allow, .optional(.versions, absent: "any"))
            .means("Bundle versions that the app accepts, compared byte for byte."),
        Setting("bundleVersions.whenMissing", \.expectations.bundleVersions.whenMissing, .choice)
            .means("What an object without a bundle version gets."),
        Setting("extensions.trust", \.expectations.extensionTrust, .choice).means(
            "Which extension maps of assertions count: those that the ED flag announces, or all. With `any` a tampered "
                + "app can claim any category."
        ),
        Setting("macOS.acl", \.expectations.macACL, .choice)
            .means("Whether a Mac's key must have Apple's access control list."),
        Setting("receipt", \.expectations.receipt, .choice).means(
            "`report`: the receipt's verdict is in the evidence. `require`: a bad or missing receipt refuses. "
                + "`ignore`: it is not read."
        ),
        Setting("clientDataHash.bytes", \.clientDataHash, .hashLength)
            .means("Length of `clientDataHash` in `verifyAttestation` and `verifyAssertion`."),
    ]

    private static let risk: [Setting<RegisteredApp>] = [
        Setting("risk.mode", \.risk.mode, .choice).means(
            "`off`: receipts are judged and dropped. `report`: the topic `topics.receipts` keeps the last genuine receipt of "
                + "each key; `receipt` may not be `ignore`. `refuse`: keys whose metric is too high get `risk-too-high` as "
                + "well; see [Reasons](Reasons.md#429-resource_exhausted)."
        ),
        Setting(
            "risk.above",
            \.risk.above,
            .optional(.integer(1...UInt16.max), absent: "none"),
            range: "1 to 65535; needed by `risk.mode` `refuse`"
        ).means(
            "A key whose metric is greater is refused in mode `refuse`, and marked `riskAbove` in the events of both "
                + "modes. The start warns of one below 5 in mode `refuse`."
        ),
    ]

    private static let rollout: [Setting<RegisteredApp>] = [
        Setting("rollout.mode", \.rollout.mode, .choice).means(
            "`off`: no gate, every device is admitted. `shadow`: the gate decides and reports only. `on`: it enforces."
        ),
        Setting("rollout.percent", \.rollout.parts, .percent).means("Share of installations that may attest."),
        Setting("rollout.seed", \.rollout.seed, .seed)
            .means("Seed of the share. Another seed selects other installations."),
        Setting("rollout.always", \.rollout.always, .installations)
            .means("Test devices that are inside, whatever the share: SHA-256 of their installation IDs."),
        Setting("rollout.never", \.rollout.never, .installations, range: "no entry of `rollout.always`")
            .means("Test devices that are outside, whatever the share. Keys that the ledger has pass all the same."),
        Setting("attestationsPerSecond", \.attestationsPerSecond, .integer(0...1_000_000))
            .means("Attestations admitted per second over all partitions; 0 sets no limit. `replay` applies none."),
    ]

    private static let debug: [Setting<RegisteredApp>] = [
        Setting(
            "debugTokens",
            \.debugTokens,
            of: { _ in DebugTokens.none },
            DebugTokens.settings,
            range: "at most \(DebugToken.mostPerApp); none in an app that accepts `production`",
            check: DebugTokens.check
        ).means(
            "Secrets of simulators and CI jobs, which get tokens without a device: see "
                + "[Gateway, Debug tokens](Gateway.md#debug-tokens)."
        )
    ]
}

extension Registry {
    /// - Throws: where an app asks for more bytes than any request may have.
    func checkHashLengths(upTo limit: Int) throws(ConfigurationFault) {
        for app in apps {
            guard case .bytes(let bytes) = app.clientDataHash, bytes > limit else { continue }
            throw ConfigurationFault(
                "apps.json: app \(app.appID.printable): clientDataHash.bytes is \(bytes), and worker.json's "
                    + "limits.clientDataHashBytes allows \(limit): raise the limit or lower bytes."
            )
        }
    }

    /// - Throws: where an app keeps receipts and no topic takes them.
    func checkReceipts(topic: String?) throws(ConfigurationFault) {
        guard topic == nil, let app = apps.first(where: \.risk.keepsReceipts) else { return }
        throw ConfigurationFault(
            "apps.json: app \(app.appID.printable): risk.mode is \(app.risk.mode.rawValue), and worker.json names no topic "
                + "for receipts: set topics.receipts and create it, or set risk.mode to off."
        )
    }
}
