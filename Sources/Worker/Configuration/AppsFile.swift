internal import AppAttest
internal import AppCheck

/// apps.json.
enum AppsFile {
    private static let name = "apps.json"
    private static let appKeys: [StaticString] = [
        "appId", "oauthClientIds", "appleAppIds", "environments", "tokenTtl", "tokenAlgorithm", "sharedSessionTokens",
        "categories", "bundleVersions", "macOS", "receipt", "extensions", "clientDataHash", "unknownKeys",
        "attestationsPerSecond", "rollout", "replayProtection",
    ]

    /// - Parameter unknownKeys: the policy of an app that does not set one.
    static func read(
        _ files: ConfigurationFiles,
        unknownKeys: UnknownKeyPolicy
    )
        throws(ConfigurationFault) -> Registry
    {
        let root = try files.object(name, keys: ["projects"])
        var apps: [RegisteredApp] = []
        for project in try root.objects("projects", keys: ["number", "id", "apps"]) {
            let number = try project.name("number")
            let id = try project.string("id")
            for app in try project.objects("apps", keys: appKeys) {
                apps.append(try Self.app(app, number: number, id: id, unknownKeys: unknownKeys))
            }
        }
        do throws(RegistryFault) {
            return try Registry(apps: apps)
        } catch {
            throw ConfigurationFault("\(name): \(error.message); keep one of them.")
        }
    }

    private static func app(
        _ object: ConfigurationObject,
        number: String,
        id: String?,
        unknownKeys: UnknownKeyPolicy
    ) throws(ConfigurationFault) -> RegisteredApp {
        RegisteredApp(
            projectNumber: number,
            projectID: id,
            appID: try object.name("appId"),
            oauthClientIDs: try object.strings("oauthClientIds") ?? [],
            expectations: try expectations(object),
            clientDataHash: try clientDataHash(object),
            tokens: try tokens(object),
            unknownKeys: try object.choice("unknownKeys", default: unknownKeys),
            attestationsPerSecond: try object.integer("attestationsPerSecond", in: 0...1_000_000, default: 0),
            rollout: try rollout(object)
        )
    }

    private static func expectations(_ object: ConfigurationObject) throws(ConfigurationFault) -> Expectations {
        var expectations = Expectations(appIDs: (try object.strings("appleAppIds") ?? []).map { AppID($0) })
        // An absent list sets no limit; App IDs are the app's identity, so without them nothing is accepted.
        expectations.environments = Set(Environment.allCases)
        if let names = try object.strings("environments") {
            let environments = names.compactMap { Environment(rawValue: $0) }
            guard environments.count == names.count, !names.isEmpty
            else { throw object.fault("environments", "must list production, development or both") }
            expectations.environments = Set(environments)
        }
        if let categories = try object.object("categories", keys: ["allow", "whenMissing"]) {
            expectations.categories = EntryPolicy(
                allow: try categories.unsignedIntegers("allow").map { Set($0) },
                whenMissing: try whenMissing(categories)
            )
        }
        if let versions = try object.object("bundleVersions", keys: ["allow", "whenMissing"]) {
            expectations.bundleVersions = EntryPolicy(
                allow: try versions.strings("allow").map { Set($0.map { ExactText($0) }) },
                whenMissing: try whenMissing(versions)
            )
        }
        let macACL = try object.object("macOS", keys: ["acl"])?.named("acl", MacACLPolicy.init, "require, accept")
        expectations.macACL = macACL ?? .require
        expectations.receipt = try object.named("receipt", ReceiptPolicy.init, "report, require, ignore") ?? .report
        if let extensions = try object.object("extensions", keys: ["trust"]) {
            expectations.extensionTrust = try extensions.choice("trust", default: .flagged)
        }
        return expectations
    }

    private static func clientDataHash(_ app: ConfigurationObject) throws(ConfigurationFault) -> ClientDataHashLength {
        guard let object = try app.object("clientDataHash", keys: ["bytes"]) else { return .standard }
        guard let said = try object.integer("bytes", orWord: "any", in: 1...65_536) else { return .standard }
        return said.map { .bytes($0) } ?? .any
    }

    private static func whenMissing<Value>(
        _ object: ConfigurationObject
    ) throws(ConfigurationFault)
        -> EntryPolicy<Value>.WhenMissing
    {
        try object.named("whenMissing", EntryPolicy<Value>.WhenMissing.init, "accept, refuse") ?? .accept
    }

    private static func tokens(_ object: ConfigurationObject) throws(ConfigurationFault) -> TokenSettings {
        let standard = TokenSettings()
        return TokenSettings(
            ttlMilliseconds: try object.duration(
                "tokenTtl",
                in: TokenSettings.ttlRange,
                default: standard.ttlMilliseconds,
                allowed: "from 30m to 7d"
            ),
            algorithm: try object.choice("tokenAlgorithm", default: standard.algorithm),
            sharedSessionTokens: try object.bool("sharedSessionTokens", default: standard.sharedSessionTokens),
            sessionTokens: try object.object("replayProtection", keys: ["sessionTokens"])?
                .choice("sessionTokens", default: standard.sessionTokens) ?? standard.sessionTokens
        )
    }

    private static func rollout(_ app: ConfigurationObject) throws(ConfigurationFault) -> Rollout {
        guard let object = try app.object("rollout", keys: ["mode", "percent", "seed"]) else { return Rollout() }
        var rollout = Rollout(mode: try object.choice("mode", default: .off))
        if let text = try object.numberText("percent") {
            guard let parts = PercentText.parts(text)
            else { throw object.fault("percent", "must be a number from 0 to 100 with at most six decimal places") }
            rollout.parts = parts
        }
        rollout.seed = try object.string("seed") ?? ""
        guard rollout.seed.utf8.count <= 32,
            rollout.seed.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || "-_.".contains($0)) })
        else { throw object.fault("seed", "must be up to 32 letters, digits, dots, underscores or hyphens") }
        return rollout
    }
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
}

/// A percentage with up to six decimal places, exactly.
enum PercentText {
    private static let places = 6

    /// - Returns: parts of ``Rollout/whole``, nil for any other text.
    static func parts(_ text: String) -> Int64? {
        let halves = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        let fraction = halves.count == 2 ? halves[1] : ""
        guard text.allSatisfy({ $0.isASCII && ($0.isNumber || $0 == ".") }), fraction.count <= places,
            let whole = Int64(halves[0]), whole <= 100,
            let millionths = Int64(fraction + String(repeating: "0", count: places - fraction.count))
        else { return nil }
        let parts = whole * 1_000_000 + millionths
        return parts <= Rollout.whole ? parts : nil
    }
}
