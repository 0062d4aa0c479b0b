import AppCheck
import Foundation
import JSON
import Pipeline
import Streams
import TestKit
import Testing

@testable import Lab

/// Two projects with an app each, one per algorithm, and the tokens that a replay of simulated traffic mints.
struct MintedTokens {
    let folder: SimulationFolder
    private(set) var requests: [InboundRecord] = []
    /// By request-id: the answer on the tokens topic.
    private(set) var answers: [String: JSONNode] = [:]

    static let projects = [("123456789012", "lab-project", "RS256"), ("210987654321", "other-project", "ES256")]

    /// - Parameters:
    ///   - start: of the traffic; nil = it ends now.
    ///   - change: what becomes of each record of the capture before it is replayed.
    init(
        devices: Int = 8,
        records: Int = 60,
        start: String? = nil,
        change: (Int, inout InboundRecord) throws -> Void = { _, _ in }
    ) throws {
        folder = try SimulationFolder.configured()
        try folder.write(Self.apps, to: "config/apps.json")
        try Self.run(
            "new-keys",
            "--config",
            folder.path + "/config",
            "--only",
            "signing",
            "--algorithm",
            "ES256",
            "--add"
        )
        let arguments = [
            "simulate", "--config", folder.path + "/config", "--devices", "\(devices)", "--records", "\(records)",
            "--output", folder.path + "/made.ndjson", "--verbs",
            "generateAppAttestChallenge,exchangeAppAttestAttestation,exchangeAppAttestAssertion",
        ]
        try Self.run(arguments + (start.map { ["--start", $0] } ?? []))
        var capture: [UInt8] = []
        for (index, made) in try folder.captured("made.ndjson").enumerated() {
            var record = made
            try change(index, &record)
            requests.append(record)
            CaptureCodec.encode(record, into: &capture)
        }
        try Data(capture).write(to: URL(filePath: folder.path + "/capture.ndjson"))
        try Self.run([
            "replay", "--config", folder.path + "/config", "--input", folder.path + "/capture.ndjson", "--output",
            folder.path + "/out", "--mint",
        ])
        for record in try folder.captured("out/tokens.ndjson") {
            let id = try #require(record.headers.last { $0.name == Array("request-id".utf8) }?.value)
            answers[String(decoding: id, as: UTF8.self)] = try JSONDocument(parsing: record.value ?? []).root
        }
    }

    /// Of an answer that holds one.
    static func token(_ answer: JSONNode) -> String? { (answer["appCheckToken"] ?? answer)["token"]?.string }

    static func run(_ arguments: String...) throws { try run(arguments) }

    static func run(_ arguments: [String]) throws {
        let (code, transcript) = Transcript.run(arguments)
        try #require(code == 0, "\(arguments[0]): \(transcript.error)")
    }

    private static var apps: String {
        let projects = projects.map { number, id, algorithm in
            """
            {"number": "\(number)", "id": "\(id)", "apps": [{"appId": "1:\(number):ios:00ff",
              "oauthClientIds": ["\(number)-x.apps.googleusercontent.com"], "tokenAlgorithm": "\(algorithm)",
              "appleAppIds": ["ABCDE12345.com.example.app"], "environments": ["production"]}]}
            """
        }
        return #"{"projects": [\#(projects.joined(separator: ","))]}"#
    }
}

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
            let root = try JSONDocument(parsing: request.value ?? []).root
            let path = try #require(root["path"]?.string)
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

    private struct Judged: Encodable {
        let name: String
        let token: String
        let alg: String
        let projects: [String]
        let issuer: String
        let subject: String
    }

    /// One session and one limited-use token of each project.
    private func cases(_ minted: MintedTokens, _ suffix: String = "") throws -> [Judged] {
        var cases: [String: Judged] = [:]
        for answer in minted.answers.values {
            guard let token = MintedTokens.token(answer) else { continue }
            let claims = try JSONDocument(parsing: try #require(ReadToken(Array(token.utf8))).payload).root
            let life = try #require(claims["exp"]?.integer) - (try #require(claims["iat"]?.integer))
            let subject = try #require(claims["sub"]?.string)
            let (number, id, algorithm) = try #require(MintedTokens.projects.first { subject.contains($0.0) })
            let name = "\(algorithm) \(life == 300 ? "limited" : "session")\(suffix)"
            cases[name] = Judged(
                name: name,
                token: token,
                alg: algorithm,
                projects: [number, id],
                issuer: "https://firebaseappcheck.googleapis.com/\(number)",
                subject: subject
            )
        }
        #expect(cases.count == 4)
        return cases.values.sorted { $0.name < $1.name }
    }

    /// Another payload under the same signature, or another signature.
    private func tampered(_ judged: Judged, payload: Bool) throws -> Judged {
        var parts = judged.token.split(separator: ".").map(String.init)
        if payload {
            let claims = String(decoding: try #require(Base64.decode(Array(parts[1].utf8))), as: UTF8.self)
            let other = Array(claims.replacing(#""iat":1"#, with: #""iat":2"#).utf8)
            parts[1] = String(decoding: Base64.encodeURL(other), as: UTF8.self)
        } else {
            parts[2] = (parts[2].hasPrefix("A") ? "B" : "A") + parts[2].dropFirst()
        }
        return Judged(
            name: judged.name + (payload ? " payload" : " signature"),
            token: parts.joined(separator: "."),
            alg: judged.alg,
            projects: judged.projects,
            issuer: judged.issuer,
            subject: judged.subject
        )
    }

    /// By case, by judge: `ok`, or what it says.
    private func judge(_ minted: MintedTokens, _ cases: [Judged]) throws -> [String: [String: String]] {
        let python = try #require(PythonLab.python)
        let keySet = minted.folder.path + "/jwks.json"
        try MintedTokens.run("jwks", "--config", minted.folder.path + "/config", "--output", keySet)
        let file = minted.folder.path + "/cases.json"
        try JSONEncoder().encode(cases).write(to: URL(filePath: file))
        let run = PythonLab.run([python, PythonLab.script, keySet, file])
        try #require(run.code == 0, "\(run.error)")
        return try JSONDecoder().decode([String: [String: String]].self, from: run.output)
    }

    /// firebase_admin knows no ES256, whatever else is right or wrong.
    private func expectation(_ judged: Judged, _ judge: String, _ other: String) -> String {
        judge.hasPrefix("firebase_admin") && judged.alg == "ES256" ? "incorrect alg" : other
    }

    @Test(.enabled(if: PythonLab.python != nil, Comment(rawValue: PythonLab.whyMissing)))
    func
        `firebase_admin, PyJWT and openssl accept minted tokens, by number and by id, and none that was tampered with`()
        throws
    {
        let minted = try MintedTokens()
        let good = try cases(minted)
        let bad = try good.flatMap { [try tampered($0, payload: true), try tampered($0, payload: false)] }
        let verdicts = try judge(minted, good + bad)
        for judged in good {
            let said = try #require(verdicts[judged.name])
            #expect(said.count == 5)
            for (judge, verdict) in said {
                let expected = expectation(judged, judge, "ok")
                #expect(
                    expected == "ok" ? verdict == "ok" : verdict.contains(expected),
                    "\(judged.name), \(judge): \(verdict)"
                )
            }
        }
        for judged in bad {
            let said = try #require(verdicts[judged.name])
            for (judge, verdict) in said {
                let word =
                    judge == "openssl" ? "erification" : judge.hasPrefix("PyJWT") ? "InvalidSignature" : "signature"
                #expect(verdict.contains(expectation(judged, judge, word)), "\(judged.name), \(judge): \(verdict)")
            }
        }
    }

    @Test(.enabled(if: PythonLab.python != nil, Comment(rawValue: PythonLab.whyMissing)))
    func `expired tokens are refused by firebase_admin and PyJWT, though their signatures are right`() throws {
        let minted = try MintedTokens(start: "2026-11-20T12:00:00Z")
        let old = try cases(minted, " old")
        for judged in old {
            for (judge, verdict) in try #require(try self.judge(minted, old)[judged.name]) {
                let expected = expectation(judged, judge, judge == "openssl" ? "ok" : "xpired")
                #expect(
                    expected == "ok" ? verdict == "ok" : verdict.contains(expected),
                    "\(judged.name), \(judge): \(verdict)"
                )
            }
        }
    }
}
