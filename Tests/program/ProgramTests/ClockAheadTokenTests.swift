internal import AppCheck
internal import DeviceLab
internal import Foundation
internal import Pipeline
internal import SimulationKit
internal import TestKit
internal import Testing

@Suite("Tokens of a worker whose clock is ahead")
struct ClockAheadTokenTests {
    private struct Judged: Encodable {
        let name: String
        let token: String
        let alg = "RS256"
        let projects = [ExchangeKit.projectID]
        let issuer = "https://firebaseappcheck.googleapis.com/\(ExchangeKit.projectNumber)"
        let subject = ExchangeKit.appID
    }

    @Test(.enabled(if: PythonLab.python != nil, Comment(rawValue: PythonLab.whyMissing)))
    func `firebase_admin and PyJWT accept them at once if within five seconds, but not an hour ahead`() throws {
        let rig = try ExchangeRig(ExchangeKit.settings())
        var device = FakeDevice(ExchangeKit.model, seed: 3)
        let artifact = try rig.register(device)
        let now = timeOfDay()
        func token(ahead: Int64) throws -> String {
            rig.time = now + ahead
            let challenge = try #require(rig.send(ExchangeRequest.challenge().at(now)).challenge)
            let request = ExchangeRequest.assertion(of: &device, artifact: artifact, challenge: challenge)
            return try #require(rig.send(request.at(now)).tokenText)
        }
        let cases = [
            Judged(name: "near", token: try token(ahead: 4_900)),
            Judged(name: "far", token: try token(ahead: 3_600_000)),
        ]
        let folder = try SimulationFolder()
        let (keys, file) = (folder.path + "/jwks.json", folder.path + "/cases.json")
        try Data(rig.settings.exchange.keys.tokens.jsonWebKeySet).write(to: URL(filePath: keys))
        try JSONEncoder().encode(cases).write(to: URL(filePath: file))
        let run = PythonLab.run([try #require(PythonLab.python), PythonLab.script, keys, file])
        try #require(run.code == 0, "\(run.error)")
        let verdicts = try JSONDecoder().decode([String: [String: String]].self, from: run.output)
        for (judge, verdict) in try #require(verdicts["near"]) { #expect(verdict == "ok", "\(judge): \(verdict)") }
        for (judge, verdict) in try #require(verdicts["far"]) where judge != "openssl" {
            #expect(verdict.contains("iat"), "\(judge): \(verdict)")
        }
    }
}
