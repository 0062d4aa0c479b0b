internal import Foundation
internal import JSON
internal import Streams
internal import TestKit
internal import Testing

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
        let only = ["--only", "signing", "--algorithm", "ES256", "--add"]
        try Transcript.done(["new-keys", "--config", folder.config] + only)
        let verbs = "generateAppAttestChallenge,exchangeAppAttestAttestation,exchangeAppAttestAssertion"
        let load = ["--devices", "\(devices)", "--records", "\(records)", "--verbs", verbs]
        requests = try folder.capture(load + (start.map { ["--start", $0] } ?? []))
        for index in requests.indices { try change(index, &requests[index]) }
        try folder.write(capture: requests)
        try folder.replayed(["--mint"])
        for record in try folder.captured("out/tokens.ndjson") {
            let id = try #require(record.headers.last { $0.name == Array("request-id".utf8) }?.value)
            answers[String(decoding: id, as: UTF8.self)] = try record.json
        }
    }

    /// The token of an answer that holds one.
    static func token(_ answer: JSONNode) -> String? { (answer["appCheckToken"] ?? answer)["token"]?.string }

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

/// A token, with the projects, issuer and subject that other libraries expect of it.
struct JudgedToken: Encodable {
    var name: String
    var token: String
    let alg: String
    let projects: [String]
    let subject: String
    let issuer: String

    /// - Parameter projects: the number of one, and its id.
    init(_ name: String, _ token: String, _ alg: String, projects: [String], subject: String) {
        (self.name, self.token, self.alg, self.projects, self.subject) = (name, token, alg, projects, subject)
        issuer = "https://firebaseappcheck.googleapis.com/\(projects[0])"
    }

    /// Asks each library about each token, by the key set in the folder's `jwks.json`.
    ///
    /// - Returns: `ok`, or what is said; by token, by library.
    static func verdicts(_ cases: [JudgedToken], in folder: some FileFolder) throws -> [String: [String: String]] {
        try folder.write(Array(JSONEncoder().encode(cases)), to: "cases.json")
        let python = try #require(PythonLab.python)
        let run = PythonLab.run([python, PythonLab.script, folder.file("jwks.json"), folder.file("cases.json")])
        try #require(run.code == 0, "\(run.error)")
        return try JSONDecoder().decode([String: [String: String]].self, from: run.output)
    }
}
