internal import AppAttest
internal import AppCheck
internal import Foundation
internal import JSON
internal import Settings
internal import TestKit
internal import Testing

@testable internal import Worker

@Suite("jwks")
struct JWKSTests {
    @Test func `the set has every active and published key, and no private number`() throws {
        let directory = try KeyDirectory.complete()
        for algorithm in ["RS256", "ES256"] {
            #expect(directory.run("new-keys", "--add", "--only", "signing", "--algorithm", algorithm).code == 0)
        }
        let (code, output, error) = directory.run("jwks")
        #expect(code == 0 && error.isEmpty && output.hasSuffix("}\n"))
        let keys = try #require(try JSONDocument(parsing: Array(output.utf8)).root["keys"]).elements
        let configured = try directory.load().configuration.signingKeys
        #expect(keys.map { $0["kid"]?.string } == configured.map(\.kid))
        #expect(configured.map(\.state) == [.active, .active, .published])
        for key in keys {
            let names = key.members.map { String(decoding: $0.name, as: UTF8.self) }
            let isRSA = key["alg"]?.string == "RS256"
            #expect(names == ["kty", "use", "alg", "kid"] + (isRSA ? ["n", "e"] : ["crv", "x", "y"]))
        }
    }

    @Test func `a file is replaced atomically, and is readable by the web server`() throws {
        let directory = try KeyDirectory.complete()
        let path = "\(directory.path)/jwks.json"
        #expect(directory.run("jwks", "--output", path).code == 0)
        #expect(try directory.text("jwks.json") == directory.run("jwks").output)
        #expect(try directory.mode("jwks.json") == 0o644)
        try directory.write("jwks.json", "old", mode: 0o664)
        let (code, output, _) = directory.run("jwks", "--output", path)
        #expect(code == 0 && output == "wrote 1 key to \(path)\n")
        #expect(try directory.text("jwks.json") == directory.run("jwks").output)
        #expect(try directory.mode("jwks.json") == 0o664)
    }

    @Test func `an empty set is never published, and a missing folder is a failure`() throws {
        let empty = try KeyDirectory().run("jwks")
        #expect(empty.code == 2 && empty.output.isEmpty && empty.error.contains("lists no signing key"))
        let lost = try KeyDirectory.complete().run("jwks", "--output", "/nowhere/jwks.json")
        #expect(lost.code == 1 && lost.error.contains("cannot write /nowhere/jwks.json"))
    }
}

@Suite("challenge")
struct ChallengeCommandTests {
    private static let time = EvaluationTime(milliseconds: 1_795_176_000_000)

    private func challenges(_ directory: KeyDirectory, _ app: String, _ count: Int) throws -> [[UInt8]] {
        let (code, output, error) = directory.run(
            "challenge",
            "--app",
            app,
            "--count",
            String(count),
            "--at",
            "2026-11-20T12:00:00Z"
        )
        try #require(code == 0, "\(error)")
        return try output.split(separator: "\n").map { line in
            try #require(Data(base64Encoded: String(line)).map { [UInt8]($0) })
        }
    }

    @Test(
        arguments: ["projects/1/apps/a", "projects/one/apps/a", "oauthClients/c.apps.example"]
    )
    func `each challenge is fresh, opens with the worker's keys, and only for that app, under each of the app's names`(
        app: String
    ) throws {
        let directory = try KeyDirectory.complete(app: #""tokenAlgorithm":"ES256","oauthClientIds":["c.apps.example"]"#)
        let made = try challenges(directory, app, 20)
        #expect(made.count == 20 && Set(made).count == 20)
        let ring = try directory.load().keys.rings.challenges
        for challenge in made {
            let opened = try ring.open(challenge, app: KeyDirectory.app, ttl: 300_000, at: Self.time).get()
            #expect(opened.issuedAt == Self.time)
            #expect(throws: Reason.challengeInvalid) {
                try ring.open(challenge, app: "projects/1/apps/b", ttl: 300_000, at: Self.time).get()
            }
        }
    }

    @Test func `without --at a challenge is issued now`() throws {
        let directory = try KeyDirectory.complete()
        let before = timeOfDay()
        let output = directory.run("challenge", "--app", KeyDirectory.app).output
        let after = timeOfDay()
        let challenge = [UInt8](try #require(Data(base64Encoded: String(output.dropLast()))))
        let ring = try directory.load().keys.rings.challenges
        let opened = try ring.open(
            challenge,
            app: KeyDirectory.app,
            ttl: 300_000,
            at: EvaluationTime(milliseconds: after)
        ).get()
        #expect((before...after).contains(opened.issuedAt.milliseconds))
    }

    @Test func `a challenge that cannot be sealed is refused with one line`() throws {
        let none = try KeyDirectory().run("challenge", "--app", KeyDirectory.app)
        #expect(none.code == 2 && none.error.contains("lists no challenge key"))
        let external = try KeyDirectory(#""challenges":{"mode":"external"}"#).run(
            "challenge",
            "--app",
            KeyDirectory.app
        )
        #expect(external.code == 2 && external.error.contains("challenges.mode is external"))
        let directory = try KeyDirectory.complete()
        for name in ["projects/1/apps/b", "projects/1/apps/a/", "apps/a", "oauthClients/c", "a"] {
            let (code, output, error) = directory.run("challenge", "--app", name)
            #expect(code == 2 && output.isEmpty)
            #expect(error.contains("apps.json has no app named '\(name)'; try projects/1/apps/a."))
        }
    }
}

@Suite("Key files at the command line")
struct KeyFileCommandTests {
    @Test func `a command ends with exit code 2 and one line on a bad key file`() throws {
        let directory = try KeyDirectory.complete()
        let file = try #require(try directory.load().configuration.signingKeys.first?.file)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file)
        for command in ["jwks", "new-keys"] {
            let (code, output, error) = directory.run(command)
            #expect(code == 2)
            #expect(output.isEmpty)
            #expect(error.contains("is open to others (mode 644)") && error.filter(\.isNewline).count == 1)
        }
    }
}
