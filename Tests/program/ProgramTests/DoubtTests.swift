internal import AppAttest
internal import AppCheck
internal import DeviceLab
internal import Foundation
internal import TestKit
internal import Testing

@testable internal import Commands
@testable internal import Run
@testable internal import Settings

@Suite("Warnings about a configuration")
struct DoubtTests {
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
        ] as [(String, String?)]
    )
    func `a warning names the place of an empty list that accepts nothing, not of an absent or full one`(
        app: String,
        warning: String?
    ) throws {
        let warnings = try KeyDirectory(app: app).load().warnings(now: 0)
        #expect(warnings.count == (warning == nil ? 0 : 1))
        if let warning { #expect(warnings[0].hasPrefix(warning), "\(warnings)") }
    }

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
        let warnings = try KeyDirectory(app: #""appleAppIds":["ABCDE12345.b","\#(id)"]"#).load().warnings(now: 0)
        #expect(warnings.count == (problem == nil ? 0 : 1))
        guard let problem else { return }
        #expect(warnings.first?.hasPrefix("apps.json: projects/1/apps/a: appleAppIds: \(id) \(problem)") == true)
    }

    @Test(arguments: ["com.example.app.Clip", "ABCDE12345.com.example.app.Clip"])
    func `a warning names a bundle that no caller sends, since it begins with a team`(bundle: String) throws {
        let app = #""appleAppIds":["ABCDE12345.b"],"bundleIds":["\#(bundle)"]"#
        let directory = try KeyDirectory(app: app)
        #expect(try directory.files.load().registry.apps[0].bundleIDs == [bundle])
        let warnings = try directory.load().warnings(now: 0)
        #expect(
            warnings.count == (bundle.hasPrefix("A") ? 1 : 0)
                && warnings.allSatisfy { $0.contains("bundleIds: \(bundle)") }
        )
    }

    @Test func `a warning has the app's name and its ID`() throws {
        let warnings = try KeyDirectory(app: #""name":"Shop","appleAppIds":["*"]"#).load().warnings(now: 0)
        #expect(warnings.first?.hasPrefix("apps.json: Shop (projects/1/apps/a): appleAppIds: * has a wildcard") == true)
    }

    @Test func `a warning names the list of a lab authority's root, and no other root`() {
        let lab = LabCA(seed: 7)
        func file(_ pem: [UInt8]) -> AnchorSettings.File { AnchorSettings.File(path: "a.pem", pem: pem) }
        let apple = file(Array(AppleRoots.attestationPEM.utf8))
        let both = AnchorSettings(
            attestation: [apple, file(lab.attestationAnchorPEM)],
            receipt: [file(lab.receiptAnchorPEM)]
        )
        let warnings = LabAnchors.warnings(both)
        #expect(warnings.count == 2)
        #expect(warnings.first?.hasPrefix("worker.json: anchors.attestation: a.pem is a lab authority's root") == true)
        #expect(LabAnchors.warnings(AnchorSettings(attestation: [apple])) == [])
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
