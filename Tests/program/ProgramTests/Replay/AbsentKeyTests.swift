internal import Foundation
internal import JSON
internal import TestKit
internal import Testing

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
        let (with, without) = (try folder.results("with"), try folder.results("without"))
        #expect(with.count == 80 && without.count == 80)
        func isDeferred(_ result: JSONNode) -> Bool { result.outcome == "no-active-key" }
        func isOf(_ verb: String, _ result: JSONNode) -> Bool { result["path"]?.string?.hasSuffix(":" + verb) == true }
        for (before, after) in zip(with, without) where !isOf("verifyAppCheckToken", after) || !isDeferred(after) {
            #expect(after["requestId"]?.string == before["requestId"]?.string && after.outcome == before.outcome)
        }
        #expect(without.contains(where: isDeferred) && !with.contains(where: isDeferred))
        #expect(without.contains { isOf("exchangeAppAttestAssertion", $0) && $0.outcome == "accepted" })
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

    /// ``OutputFileTests`` overwrites files that were open to others.
    @Test func `files with tokens, artifacts and challenges are readable by their owner alone`() throws {
        let folder = try folder(Self.exchange)
        try folder.replayed(["--mint"])
        for name in ["capture", "out/tokens", "out/dead-letters", "out/results"] {
            let attributes = try FileManager.default.attributesOfItem(atPath: folder.file(name + ".ndjson"))
            #expect((attributes[.posixPermissions] as? Int == 0o600) == (name != "out/results"), "\(name)")
        }
    }
}
