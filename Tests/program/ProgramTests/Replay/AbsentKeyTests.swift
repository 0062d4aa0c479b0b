internal import AppCheck
internal import Foundation
internal import JSON
internal import Pipeline
internal import Streams
internal import TestKit
internal import Testing

@testable internal import Commands

@Suite("A replay without keys")
struct AbsentKeyTests {
    private static let exchange =
        "generateAppAttestChallenge,exchangeAppAttestAttestation,exchangeAppAttestAssertion,verifyAppCheckToken"

    /// A capture of such verbs with the configuration that it was sealed with.
    private func folder(_ verbs: String) throws -> SimulationFolder {
        let folder = try SimulationFolder.configured()
        _ = try folder.capture(["--devices", "5", "--records", "80", "--faults", "0.2", "--verbs", verbs])
        return folder
    }

    private func removeKeys(_ folder: SimulationFolder, _ kind: String) throws {
        let keys = folder.file("config/keys")
        for name in try FileManager.default.contentsOfDirectory(atPath: keys) where name.hasPrefix(kind) {
            try FileManager.default.removeItem(atPath: keys + "/" + name)
        }
    }

    /// By request: the verb and the reason or verdict.
    private func outcomes(
        _ folder: SimulationFolder,
        _ output: String
    ) throws -> [String: (verb: Substring?, outcome: String?)] {
        var outcomes: [String: (verb: Substring?, outcome: String?)] = [:]
        for root in try folder.results(output) {
            let verb = root["path"]?.string?.split(separator: ":").last
            outcomes[root["requestId"]?.string ?? ""] = (verb, root.outcome)
        }
        return outcomes
    }

    @Test func `verbs that need no keys give the same bytes without them; minting needs every key`() throws {
        let folder = try folder("verifyAttestation,verifyAssertion")
        try folder.replayed(output: "with")
        try removeKeys(folder, "")
        let error = try folder.replayed(output: "without").error
        #expect(error.contains("warning: signing key ") && error.contains(" cannot be read here ("))
        #expect(try folder.bytes("without/results.ndjson") == folder.bytes("with/results.ndjson"))
        let minting = folder.replay(["--mint"], output: "minted")
        #expect(minting.code == 2 && minting.error.contains("is missing"))
    }

    @Test func `exchanges are judged without the signing key: only checks of its tokens are deferred`() throws {
        let folder = try folder(Self.exchange)
        try folder.replayed(output: "with")
        try removeKeys(folder, "signing")
        try folder.replayed(output: "without")
        let (with, without) = (try outcomes(folder, "with"), try outcomes(folder, "without"))
        #expect(with.count == 80 && without.count == 80)
        for (id, outcome) in without {
            let before = try #require(with[id])
            if outcome.verb == "verifyAppCheckToken", outcome.outcome == "no-active-key" { continue }
            #expect(outcome.outcome == before.outcome, "\(id)")
        }
        #expect(without.values.contains { $0.outcome == "no-active-key" })
        #expect(!with.values.contains { $0.outcome == "no-active-key" })
        #expect(without.values.contains { $0.verb == "exchangeAppAttestAssertion" && $0.outcome == "accepted" })
    }

    @Test func `a summary counts refusals by app, verb and reason`() throws {
        let folder = try folder(Self.exchange)
        try folder.replayed(["--summary", folder.file("summary")])
        let root = try folder.json("summary")
        let lines = try #require(root["refusedBy"]).elements
        let total = lines.reduce(0) { $0 + ($1["count"]?.integer ?? 0) }
        let byReason = try #require(root["refused"]).members.reduce(0) { $0 + ($1.value.integer ?? 0) }
        #expect(total == byReason + (root["deferred"]?.integer ?? 0) && total > 0)
        #expect(lines.contains { $0["verb"]?.string == "exchangeAppAttestAssertion" })
    }

    @Test
    func `files with tokens, artifacts, challenges or keys are readable by their owner alone, new or overwritten`()
        throws
    {
        let folder = try folder(Self.exchange)
        func mode(_ name: String) throws -> Int? {
            try FileManager.default.attributesOfItem(atPath: folder.file(name))[.posixPermissions] as? Int
        }
        #expect(try mode("config/lab-authority.json") == 0o600)
        #expect(try mode("capture.ndjson") == 0o600)
        try FileManager.default.createDirectory(atPath: folder.file("out"), withIntermediateDirectories: true)
        try folder.write("", to: "out/tokens.ndjson")
        let path = folder.file("out/tokens.ndjson")
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
        try folder.replayed(["--mint"])
        for name in ["tokens.ndjson", "dead-letters.ndjson"] { #expect(try mode("out/" + name) == 0o600, "\(name)") }
        #expect(try mode("out/results.ndjson") != 0o600)
    }
}
