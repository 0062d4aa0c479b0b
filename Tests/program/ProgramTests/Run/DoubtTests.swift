internal import AppCheck
internal import TestKit
internal import Testing

@testable internal import Settings

@Suite("Warnings about a configuration")
struct DoubtTests {
    /// - Parameter beginning: of the only warning about an app with these members; nil = there is none.
    private func expect(_ beginning: String?, app: String) throws {
        let warnings = try KeyDirectory(app: app).load().warnings(now: 0)
        #expect(warnings.count == (beginning == nil ? 0 : 1))
        if let beginning { #expect(warnings.first?.hasPrefix(beginning) == true, "\(warnings)") }
    }

    @Test(
        arguments: [
            (#""appleAppIds":[]"#, "apps.json: projects[0].apps[0].appleAppIds is empty: no device is accepted"),
            (
                #""appleAppIds":["ABCDE12345.b"],"categories":{"allow":[]}"#,
                "apps.json: projects[0].apps[0].categories.allow is empty"
            ),
            (
                #""appleAppIds":["ABCDE12345.b"],"bundleVersions":{"allow":[]}"#,
                "apps.json: projects[0].apps[0].bundleVersions.allow is empty"
            ),
            (#""appleAppIds":["ABCDE12345.b"],"categories":{"allow":[2]},"bundleVersions":{}"#, nil),
            (#""appleAppIds":["ABCDE12345.b"],"oauthClientIds":[]"#, nil),
            (#""name":"Shop","appleAppIds":["*"]"#, "apps.json: Shop (projects/1/apps/a): appleAppIds: * has"),
        ] as [(String, String?)]
    )
    func `a warning names its app, or the place of an empty list that accepts nothing, not of another list`(
        app: String,
        warning: String?
    ) throws { try expect(warning, app: app) }

    @Test(
        arguments: [
            (#"{"projects":[]}"#, ["projects"]),
            (#"{"projects":[{"number":"1","apps":[]},{"number":"2","apps":[{"appId":"a"}]}]}"#, ["projects[0].apps"]),
            (#"{"projects":[{"number":"2","apps":[{"appId":"a"}]}]}"#, []), ("{}", ["projects"]),
            (#"{"projects":[{"number":"1"},{"number":"2","apps":[{"appId":"a"}]}]}"#, ["projects[0].apps"]),
        ]
    )
    func `a project without apps and a file without projects cause warnings`(apps: String, places: [String]) throws {
        #expect(try ConfigurationDirectory(apps: apps).load().emptyLists == places)
    }

    @Test(
        arguments: [
            ("ABCDE12345.com.example.app", nil), ("0123456789.a", nil), ("ABCDE12345.com.example-two.App", nil),
            ("com.example.shop", "does not begin with a team"), ("ABCDE12345", "has no bundle identifier"),
            ("ABCDE12345.", "has no bundle identifier"), ("ABCDE12345.com.exämple", "has no bundle identifier"),
            ("ABCDE12345.com example", "has no bundle identifier"),
            ("ABCDE1234.com.example", "does not begin with a team"),
            ("ABCDE123456.com.example", "does not begin with a team"),
            ("abcde12345.com.example", "has its team in lower case"),
            ("ABCDE12345.*", "has a wildcard"), ("ABCDE12345.com.example.*", "has a wildcard"), ("", "does not begin"),
        ] as [(String, String?)]
    )
    func `a warning names an Apple App ID that no device can have, and none that one may have`(
        id: String,
        problem: String?
    ) throws {
        let warning = problem.map { "apps.json: projects/1/apps/a: appleAppIds: \(id) \($0)" }
        try expect(warning, app: #""appleAppIds":["ABCDE12345.b","\#(id)"]"#)
    }

    @Test(arguments: ["com.example.app.Clip", "ABCDE12345.com.example.app.Clip"])
    func `a warning names a bundle that no caller sends, since it begins with a team`(bundle: String) throws {
        let app = #""appleAppIds":["ABCDE12345.b"],"bundleIds":["\#(bundle)"]"#
        #expect(try KeyDirectory(app: app).files.load().registry.apps[0].bundleIDs == [bundle])
        try expect(bundle.hasPrefix("A") ? "apps.json: projects/1/apps/a: bundleIds: \(bundle)" : nil, app: app)
    }

    @Test func `session tokens are accepted, or refused if apps.json says so; other words are faults`() throws {
        func policy(_ members: String) throws -> Bool? {
            try KeyDirectory(app: members).load().configuration.registry.apps.first?.tokens.consumesSessionTokens
        }
        #expect(try policy(#""appleAppIds":["ABCDE12345.b"]"#) == true)
        #expect(try policy(#""replayProtection":{}"#) == true)
        #expect(try policy(#""replayProtection":{"sessionTokens":"accept"}"#) == true)
        #expect(try policy(#""replayProtection":{"sessionTokens":"refuse"}"#) == false)
        #expect(try policy(#""sharedSessionTokens":true,"replayProtection":{"sessionTokens":"accept"}"#) == false)
        let fault = try KeyDirectory(app: #""replayProtection":{"sessionTokens":"on"}"#).fault()
        #expect(
            fault == "apps.json: projects[0].apps[0].replayProtection.sessionTokens: must be one of accept, refuse, "
                + "not \"on\"."
        )
    }

    @Test func `the limit of remembered tokens is one of the configured limits`() throws {
        #expect(try KeyDirectory().load().configuration.limits.sessionTokens == 1_000_000)
        #expect(try KeyDirectory(#""limits":{"sessionTokens":5}"#).load().configuration.limits.sessionTokens == 5)
        #expect(try KeyDirectory(#""limits":{"sessionTokens":-1}"#).fault()?.contains("limits.sessionTokens") == true)
    }
}
