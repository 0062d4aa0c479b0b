import AppCheck
import JSON
import Pipeline
import SimulationKit
import Streams
import TestKit
import Testing

@testable import Lab

@Suite("Tokens checked by other libraries", .waiting)
struct ExchangeTokenTests {
    /// Each record's path in another spelling: version, project by number or id, with and without its first slash.
    private static func respell(_ index: Int, _ record: inout InboundRecord) {
        var text = String(decoding: record.value ?? [], as: UTF8.self)
        if index & 1 == 1 { text = text.replacing(#""path":"/v1/"#, with: #""path":"/v1beta/"#) }
        if index & 2 == 2 {
            for (number, id, _) in MintedTokens.projects {
                text = text.replacing("/projects/\(id)/", with: "/projects/\(number)/")
            }
        }
        if index & 4 == 4 { text = text.replacing(#""path":"/"#, with: #""path":""#) }
        record.value = Array(text.utf8)
    }

    @Test func `all names of an app are served alike: number and id, OAuth client, v1 and v1beta with its mirrors`()
        throws
    {
        let minted = try MintedTokens(devices: 24, records: 240, change: Self.respell)
        var spellings: Set<String> = []
        for request in minted.requests {
            let path = try #require(try request.json["path"]?.string)
            let id = String(decoding: try #require(request.headers.first?.value), as: UTF8.self)
            let answer = try #require(minted.answers[id], "\(path) has no answer")
            guard let token = MintedTokens.token(answer) else {
                #expect(path.hasSuffix(":generateAppAttestChallenge") && answer["challenge"] != nil)
                continue
            }
            let isBeta = path.contains("v1beta/")
            if let nested = answer["appCheckToken"] {
                #expect((answer["attestationToken"]?["attestationToken"]?.string == token) == isBeta)
                #expect((answer["attestationToken"] != nil) == isBeta)
                #expect((nested["attestationToken"]?.string == token) == isBeta)
                #expect(answer["artifact"]?.string != nil)
            } else {
                #expect((answer["attestationToken"]?.string == token) == isBeta)
            }
            let claims = try JSONDocument(parsing: try #require(ReadToken(Array(token.utf8))).payload).root
            let (number, project, _) = try #require(
                MintedTokens.projects.first { path.contains($0.0) || path.contains($0.1) }
            )
            let isClient = path.contains("oauthClients/")
            let name = isClient ? "\(number)-x.apps.googleusercontent.com" : "1:\(number):ios:00ff"
            #expect(claims["sub"]?.string == name)
            #expect(claims["iss"]?.string == "https://firebaseappcheck.googleapis.com/\(number)")
            #expect(claims["aud"]?.elements.map(\.string) == ["projects/\(number)", "projects/\(project)"])
            spellings.insert("\(isBeta) \(path.contains("/\(number)/")) \(isClient) \(path.hasPrefix("/"))")
        }
        #expect(spellings.count == 12, "\(spellings)")
    }

    /// One session and one limited-use token of each project.
    private func cases(_ minted: MintedTokens) throws -> [JudgedToken] {
        var cases: [String: JudgedToken] = [:]
        for answer in minted.answers.values {
            guard let token = MintedTokens.token(answer) else { continue }
            let claims = try JSONDocument(parsing: try #require(ReadToken(Array(token.utf8))).payload).root
            let life = try #require(claims["exp"]?.integer) - (try #require(claims["iat"]?.integer))
            let subject = try #require(claims["sub"]?.string)
            let (number, id, algorithm) = try #require(MintedTokens.projects.first { subject.contains($0.0) })
            let name = "\(algorithm) \(life == 300 ? "limited" : "session")"
            cases[name] = JudgedToken(name, token, algorithm, projects: [number, id], subject: subject)
        }
        #expect(cases.count == 4)
        return cases.values.sorted { $0.name < $1.name }
    }

    /// Another payload under the same signature, or another signature.
    private func tampered(_ judged: JudgedToken, payload: Bool) throws -> JudgedToken {
        var (parts, tampered) = (judged.token.split(separator: ".").map(String.init), judged)
        if payload {
            let claims = String(decoding: try #require(Base64.decode(Array(parts[1].utf8))), as: UTF8.self)
            let other = Array(claims.replacing(#""iat":1"#, with: #""iat":2"#).utf8)
            parts[1] = String(decoding: Base64.encodeURL(other), as: UTF8.self)
        } else {
            parts[2] = (parts[2].hasPrefix("A") ? "B" : "A") + parts[2].dropFirst()
        }
        tampered.name += payload ? " payload" : " signature"
        tampered.token = parts.joined(separator: ".")
        return tampered
    }

    /// - Parameter words: what a library says of such tokens. firebase_admin knows no ES256, whatever else is right or
    ///   wrong.
    private func expect(
        _ cases: [JudgedToken],
        _ verdicts: [String: [String: String]],
        words: (_ library: String) -> String
    ) throws {
        for judged in cases {
            let said = try #require(verdicts[judged.name])
            #expect(said.count == 5)
            for (library, verdict) in said {
                let isForeign = library.hasPrefix("firebase_admin") && judged.alg == "ES256"
                let expected = isForeign ? "incorrect alg" : words(library)
                let isSaid = expected == "ok" ? verdict == "ok" : verdict.contains(expected)
                #expect(isSaid, "\(judged.name), \(library): \(verdict)")
            }
        }
    }

    @Test(.enabled(if: PythonLab.python != nil, Comment(rawValue: PythonLab.whyMissing)))
    func
        `firebase_admin, PyJWT and openssl accept minted tokens, by number and by id, and none that was tampered with`()
        throws
    {
        let minted = try MintedTokens()
        let good = try cases(minted)
        let bad = try good.flatMap { [try tampered($0, payload: true), try tampered($0, payload: false)] }
        let keySet = ["--config", minted.folder.config, "--output", minted.folder.file("jwks.json")]
        try Transcript.done(["jwks"] + keySet)
        let verdicts = try JudgedToken.verdicts(good + bad, in: minted.folder)
        try expect(good, verdicts) { _ in "ok" }
        try expect(bad, verdicts) { library in
            library == "openssl" ? "erification" : library.hasPrefix("PyJWT") ? "InvalidSignature" : "signature"
        }
    }

    @Test(.enabled(if: PythonLab.python != nil, Comment(rawValue: PythonLab.whyMissing)))
    func `expired tokens are refused by firebase_admin and PyJWT, though their signatures are right`() throws {
        let minted = try MintedTokens(start: "2026-11-20T12:00:00Z")
        let old = try cases(minted)
        try minted.folder.write(Transcript.done(["jwks", "--config", minted.folder.config]).output, to: "jwks.json")
        try expect(old, JudgedToken.verdicts(old, in: minted.folder)) { $0 == "openssl" ? "ok" : "xpired" }
    }

    @Test(.enabled(if: PythonLab.python != nil, Comment(rawValue: PythonLab.whyMissing)))
    func `those of a worker whose clock is ahead are accepted if within five seconds, but not an hour ahead`() throws {
        let (rig, registered, artifact) = try ExchangeRig.registered()
        var device = registered
        let now = timeOfDay()
        func judged(_ name: String, ahead: Int64) throws -> JudgedToken {
            rig.time = now + ahead
            let challenge = try #require(rig.send(ExchangeRequest.challenge().at(now)).challenge)
            let request = ExchangeRequest.assertion(of: &device, artifact: artifact, challenge: challenge)
            let token = try #require(rig.send(request.at(now)).tokenText)
            let projects = [ExchangeKit.projectNumber, ExchangeKit.projectID]
            return JudgedToken(name, token, "RS256", projects: projects, subject: ExchangeKit.appID)
        }
        let cases = [try judged("near", ahead: 4_900), try judged("far", ahead: 3_600_000)]
        let folder = try SimulationFolder()
        try folder.write(rig.settings.exchange.keys.tokens.jsonWebKeySet, to: "jwks.json")
        let verdicts = try JudgedToken.verdicts(cases, in: folder)
        for (library, verdict) in try #require(verdicts["near"]) { #expect(verdict == "ok", "\(library): \(verdict)") }
        for (library, verdict) in try #require(verdicts["far"]) where library != "openssl" {
            #expect(verdict.contains("iat"), "\(library): \(verdict)")
        }
    }
}
