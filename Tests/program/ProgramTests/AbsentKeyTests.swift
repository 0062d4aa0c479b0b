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
    private static let exchange = [
        "generateAppAttestChallenge", "exchangeAppAttestAttestation", "exchangeAppAttestAssertion",
        "verifyAppCheckToken",
    ]

    /// A capture of such verbs with the configuration that it was sealed with.
    private func folder(_ verbs: [String]) throws -> SimulationFolder {
        let folder = try SimulationFolder()
        _ = try folder.capture([
            "--new-config", "--devices", "5", "--records", "80", "--faults", "0.2", "--verbs",
            verbs.joined(separator: ","),
        ])
        return folder
    }

    private func replay(_ folder: SimulationFolder, _ output: String, _ more: String...) -> (code: Int32, error: String)
    {
        let arguments = [
            "replay", "--config", folder.path + "/config", "--input", folder.path + "/capture.ndjson", "--output",
            folder.path + "/" + output,
        ]
        let (code, transcript) = Transcript.run(arguments + more)
        return (code, transcript.error)
    }

    private func removeKeys(_ folder: SimulationFolder, _ kind: String) throws {
        let keys = folder.path + "/config/keys"
        for name in try FileManager.default.contentsOfDirectory(atPath: keys) where name.hasPrefix(kind) {
            try FileManager.default.removeItem(atPath: keys + "/" + name)
        }
    }

    /// By offset: the verb and the reason or verdict.
    private func outcomes(
        _ folder: SimulationFolder,
        _ output: String
    ) throws -> [Int64: (verb: String, outcome: String)] {
        var outcomes: [Int64: (verb: String, outcome: String)] = [:]
        for record in try folder.captured(output + "/results.ndjson") {
            let root = try JSONDocument(parsing: record.value ?? []).root
            let verb = String(root["path"]?.string?.split(separator: ":").last ?? "")
            let partition = Int64(record.partition) << 32
            outcomes[partition | record.offset] = (verb, root["reason"]?.string ?? root["verdict"]?.string ?? "")
        }
        return outcomes
    }

    @Test func `verbs that need no keys give the same bytes without them; minting needs every key`() throws {
        let folder = try folder(["verifyAttestation", "verifyAssertion"])
        #expect(replay(folder, "with").code == 0)
        try removeKeys(folder, "")
        let (code, error) = replay(folder, "without")
        #expect(code == 0)
        #expect(error.contains("warning: signing key ") && error.contains(" cannot be read here ("))
        #expect(try folder.bytes("without/results.ndjson") == folder.bytes("with/results.ndjson"))
        let minting = replay(folder, "minted", "--mint")
        #expect(minting.code == 2 && minting.error.contains("is missing"))
    }

    @Test func `exchanges are judged without the signing key: only checks of its tokens are deferred`() throws {
        let folder = try folder(Self.exchange)
        #expect(replay(folder, "with").code == 0)
        try removeKeys(folder, "signing")
        #expect(replay(folder, "without").code == 0)
        let (with, without) = (try outcomes(folder, "with"), try outcomes(folder, "without"))
        #expect(with.count == 80 && without.count == 80)
        for (place, outcome) in without {
            let before = try #require(with[place])
            if outcome.verb == "verifyAppCheckToken", outcome.outcome == "no-active-key" { continue }
            #expect(outcome.outcome == before.outcome, "\(outcome.verb)")
        }
        #expect(without.values.contains { $0.outcome == "no-active-key" })
        #expect(!with.values.contains { $0.outcome == "no-active-key" })
        #expect(without.values.contains { $0.verb == "exchangeAppAttestAssertion" && $0.outcome == "accepted" })
    }

    @Test func `a summary counts refusals by app, verb and reason`() throws {
        let folder = try folder(Self.exchange)
        #expect(replay(folder, "out", "--summary", folder.path + "/summary").code == 0)
        let root = try JSONDocument(parsing: folder.bytes("summary")).root
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
            try FileManager.default.attributesOfItem(atPath: folder.path + "/" + name)[.posixPermissions] as? Int
        }
        #expect(try mode("config/lab-authority.json") == 0o600)
        #expect(try mode("capture.ndjson") == 0o600)
        try FileManager.default.createDirectory(atPath: folder.path + "/out", withIntermediateDirectories: true)
        try folder.write("", to: "out/tokens.ndjson")
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o644],
            ofItemAtPath: folder.path + "/out/tokens.ndjson"
        )
        #expect(replay(folder, "out", "--mint").code == 0)
        for name in ["tokens.ndjson", "dead-letters.ndjson"] { #expect(try mode("out/" + name) == 0o600, "\(name)") }
        #expect(try mode("out/results.ndjson") != 0o600)
    }
}
