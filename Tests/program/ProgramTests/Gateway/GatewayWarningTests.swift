internal import AppCheck
internal import Crypto
internal import Settings
internal import TestKit
internal import Testing

@testable internal import Run

@Suite("Warnings about a gateway's configuration")
struct GatewayWarningTests {
    private static let noKey = "worker.json lists no challenge key: challenges get 503"
    private static let noSet = "gateway.publicKeys names no file: no key set is served"

    /// - Returns: a directory of a gateway, with what it lacks.
    private func directory(_ apps: String?, isAtLeastOnce: Bool = false) throws -> KeyDirectory {
        let delivery = #""delivery":"at-least-once","gateway":{"atLeastOnce":true}"#
        let directory = try KeyDirectory(isAtLeastOnce ? delivery : "")
        try directory.files.write("kafka.properties", "bootstrap.servers=localhost:9092\n")
        if let apps { try directory.files.write("apps.json", apps) }
        return directory
    }

    @Test(
        arguments: [
            (nil, false, [noKey, noSet]), (#"{"projects":[]}"#, false, ["apps.json: projects is empty", noKey, noSet]),
            ("{}", false, ["apps.json: projects is", noKey, noSet]),
            (nil, true, [noKey, noSet, "delivery is at-least-once"]),
        ] as [(String?, Bool, [String])]
    )
    func `--check prints the warnings of a start, each on a line`(
        apps: String?,
        isAtLeastOnce: Bool,
        beginnings: [String]
    ) throws {
        let directory = try directory(apps, isAtLeastOnce: isAtLeastOnce)
        let (code, transcript) = Transcript.run(["gateway", "--config", directory.path, "--check"])
        let hasApps = apps == nil
        #expect(code == (hasApps ? 0 : 2))
        var lines = transcript.error.split(separator: "\n")
        if !hasApps { #expect(lines.removeLast().contains("apps.json lists no app")) }
        #expect(lines.count == beginnings.count, "\(lines)")
        for (line, beginning) in zip(lines, beginnings) { #expect(line.hasPrefix("warning: \(beginning)"), "\(line)") }
        // What a start logs is the same list.
        let session = try GatewaySession(directory: directory.path, instance: "g", console: transcript.console)
        #expect(session.warnings.map { "warning: \($0)" } == lines.map(String.init))
    }

    @Test(arguments: [1, 2])
    func `a second project adds a warning where /v1/verify is served: proxies that name none get 400 then`(
        projects: Int
    ) throws {
        let list = (1...projects).map { #"{"number":"\#($0)","apps":[{"appId":"a","appleAppIds":["ABCDE12345.b"]}]}"# }
        let directory = try directory(#"{"projects":[\#(list.joined(separator: ","))]}"#)
        let set = directory.path + "/jwks.json"
        try directory.files.write("jwks.json", #"{"keys":[]}"#)
        try directory.files.write(
            "worker.json",
            #"{"anchors":{"attestation":["root.pem"]},"gateway":{"publicKeys":"\#(set)"}}"#
        )
        let lines = try LoadedGateway.load(directory: directory.path).warnings(now: 0)
        let isSaid = lines.contains { $0.hasPrefix("apps.json lists apps of several projects") }
        #expect(isSaid == (projects > 1), "\(lines)")
    }

    @Test(
        arguments: [
            (8080, 8080, "127.0.0.1", "127.0.0.1", false), (8080, 8080, "127.0.0.1", "0.0.0.0", false),
            (8080, 8080, "::", "127.0.0.1", false), (8080, 8080, "127.0.0.1", "127.0.0.2", true),
            (8080, 8081, "::", "::", true), (0, 0, "::", "::", true), (8080, nil, "127.0.0.1", "127.0.0.1", false),
        ] as [(Int, Int?, String, String, Bool)]
    )
    func `one port for calls and metrics is refused`(
        port: Int,
        metrics: Int?,
        address: String,
        metricsAddress: String,
        isFine: Bool
    ) throws {
        let own = metrics.map { #","metrics":{"port":\#($0)}"# } ?? ""
        let members =
            #""gateway":{"port":\#(port),"address":"\#(address)"\#(own)},"#
            + #""metrics":{"port":8080,"address":"\#(metricsAddress)"}"#
        let directory = try KeyDirectory(members)
        do throws(ConfigurationFault) {
            _ = try LoadedGateway.load(directory: directory.path)
            #expect(isFine)
        } catch {
            #expect(!isFine && error.message.contains("gateway.port") && error.message.contains("are both 8080"))
            #expect(error.message.contains("gateway.metrics.port and") == false)
        }
    }

    @Test(
        arguments: [
            (#""id":"one","#, "1:1:ios:0a", nil), (#""id":"one","#, "own name", nil),
            ("", "a", "apps.json: project 1 has no id: "),
            (#""id":"one","#, "1:2:ios:0a", "apps.json: projects/1/apps/1:2:ios:0a: appId is one of project 2, "),
            (#""id":"one","#, "1:1:android:0a", "apps.json: projects/1/apps/1:1:android:0a: appId is not of the form "),
            (#""id":"one","#, "1:1:ios:0A", "apps.json: projects/1/apps/1:1:ios:0A: appId is not of the form "),
        ] as [(String, String, String?)]
    )
    func `a name that no client of Google's asks by is warned of, of gateway and of worker`(
        id: String,
        app: String,
        warning: String?
    ) throws {
        let directory = try KeyDirectory.complete()
        let member = #"{"appId":"\#(app)","tokenAlgorithm":"ES256","appleAppIds":["ABCDE12345.b"]}"#
        try directory.files.write("apps.json", #"{"projects":[{"number":"1",\#(id)"apps":[\#(member)]}]}"#)
        let gateway = try LoadedGateway.load(directory: directory.path).warnings(now: 0)
        let worker = try directory.load().warnings(now: 0)
        for lines in [gateway, worker] {
            let found = lines.filter { $0.hasPrefix("apps.json: ") }
            #expect(found.count == (warning == nil ? 0 : 1), "\(found)")
            if let warning { #expect(found.first?.hasPrefix(warning) == true, "\(found)") }
        }
    }

    @Test(
        arguments: [
            ("active", "same", nil), ("published", "same", nil), ("active", "none", "lacks signing key "),
            ("published", "none", "lacks signing key "), ("active", "other", "has another key as signing key "),
            ("revoked", "same", "still has signing key "), ("revoked", "none", nil),
        ] as [(String, String, String?)]
    )
    func `a key set that is not the one of the signing keys beside it is warned of`(
        state: String,
        set: String,
        warning: String?
    ) throws {
        let directory = try KeyDirectory.complete()
        let ring = try directory.load().keys.rings.tokens
        let key = try #require(ring.keys.first)
        let other = try TokenKey(
            kid: set == "none" ? "other" : key.kid,
            algorithm: .es256,
            state: .active,
            key: set == "same" ? key.key : SigningKey.generate(.p256)
        )
        try directory.files.write("jwks.json", try TokenKeyRing([other]).jsonWebKeySet)
        let worker = try directory.text("worker.json").replacing(#""active""#, with: #""\#(state)""#)
        try directory.files.write("worker.json", #"{"gateway":{"publicKeys":"jwks.json"},"# + worker.dropFirst())
        let gateway = try LoadedGateway.load(directory: directory.path).warnings(now: 0)
        let own = try directory.load()
        for (lines, knowsKeys) in [
            (gateway, false), (own.warnings(now: 0), true), (own.warnings(after: own, now: 0), true),
        ] {
            let found = lines.filter { $0.hasPrefix("gateway.publicKeys: ") }
            // A gateway reads no signing key: it compares names.
            let expected = set == "other" && !knowsKeys ? nil : warning
            #expect(found.count == (expected == nil ? 0 : 1), "\(found)")
            if let expected { #expect(found.first?.contains("jwks.json \(expected)\(key.kid)") == true, "\(found)") }
        }
    }
}
