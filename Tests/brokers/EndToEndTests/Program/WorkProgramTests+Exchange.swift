import AppAttest
import AppCheck
import BrokerKit
import ChaosKit
import DeviceLab
import Foundation
import JSON
import Kafka
import Pipeline
import Settings
import Streams
import Testing
import Traffic

extension WorkProgramTests {
    /// Keys of worker.json by what they are for, in the order of their lists.
    private func keyIDs(_ workplace: ProgramWorkplace) throws -> [[String]] {
        let configuration = try Configuration.load(directory: workplace.config)
        return [
            configuration.signingKeys.map(\.kid), configuration.sealingKeys.map(\.id),
            configuration.challengeKeys.map(\.id),
        ]
    }

    /// Brings fresh keys of each kind into use while calls are on their way. The worker knows each one before its use.
    private func rotate(_ workplace: ProgramWorkplace, _ worker: ProgramProcess, _ fleet: StockFleet) throws {
        let before = try keyIDs(workplace)
        try workplace.done("new-keys", "--add")
        worker.signal(SIGHUP)
        #expect(worker.says("the configuration is reloaded"), "\(worker.error)")
        try fleet.serve { fleet.tally.consumed >= 25 }
        // The signing key last: the worker speaks of it.
        for (ids, old) in zip(try keyIDs(workplace), before).reversed() {
            let id = try #require(ids.last)
            try #require(ids.count == old.count + 1)
            // No verifier of this test keeps an old set.
            try workplace.done("new-keys", "--activate", id, "--early")
        }
        worker.signal(SIGHUP)
        let kid = try #require(try keyIDs(workplace)[0].last)
        #expect(worker.says("signing key \(kid) is active"), "\(worker.error)")
        #expect(!fleet.isDone, "the new keys have something to do")
    }

    @Test func `stock clients survive a kill and a rotation of all keys, and none is ever refused`() throws {
        let workplace = try ProgramWorkplace("stock")
        let fleet = try workplace.fleet()
        let oldKid = try #require(try keyIDs(workplace)[0].first)
        var worker = try workplace.start("run", "--instance", "one")
        // In the middle of the handshakes; what was asked meanwhile is answered by the next process.
        try fleet.serve { fleet.tally.sessions >= 5 }
        worker.signal(SIGKILL)
        #expect(worker.waitForEnd(seconds: 10) == .signal(SIGKILL))
        try fleet.serve(seconds: 2) { fleet.tally.calls >= 40 || fleet.isDone }
        worker = try workplace.start("run", "--instance", "one")
        try fleet.serve { fleet.tally.consumed >= 10 }
        try rotate(workplace, worker, fleet)
        try fleet.finish(with: worker)

        let tally = fleet.tally
        #expect(tally.sessions == 20 && tally.refreshed == 60 && tally.limitedUse == 60)
        #expect(tally.checks == 120 && tally.tokens.count == 140 && Set(tally.tokens).count == 140)
        #expect(fleet.members.allSatisfy { $0.client.isRegistered && $0.client.keysMade == 1 })
        let kids = try workplace.signers(of: tally.tokens)
        #expect(kids.count == 2 && kids.contains(oldKid), "tokens of the old key and of the new one: \(kids)")
        try expectSecret(tally.tokens, workplace)
        #expect(try Outcomes(of: workplace).counts == ["accepted": tally.calls])
        // Events that the killed worker has left in an open transaction do not count.
        let rollout = try JSONDocument(parsing: Array(workplace.done("rollout", "--json").output.utf8)).root
        let successes = try #require(rollout["apps"]).elements.compactMap { $0["successes"]?.integer }
        #expect(successes.reduce(0, +) == 140, "\(successes)")
    }

    /// No part of a token stands on a topic other than tokens and, where the backend sends it, requests.
    private func expectSecret(_ tokens: [String], _ workplace: ProgramWorkplace) throws {
        let signatures = tokens.compactMap { $0.split(separator: ".").last.map { String($0.prefix(40)) } }
        for stream in ["results", "events", "dead-letters", "ledger"] {
            let all = try workplace.records(of: workplace.topic(stream)).map { record in
                String(decoding: (record.value ?? []) + record.headers.flatMap { $0.value ?? [] }, as: UTF8.self)
            }
            // How every token of ours begins: {"kid":"
            #expect(!all.contains { $0.contains("eyJraWQiOi") }, "\(stream)")
            let text = all.joined(separator: "\n")
            #expect(!signatures.contains { text.contains($0) }, "\(stream)")
        }
    }

    @Test func `simulate with live clients sends the requested number of calls, and all are answered`() throws {
        let workplace = try ProgramWorkplace("live")
        let worker = try workplace.start("run", "--instance", "one")
        let live = try workplace.done("simulate", "--publish", "--live", "--devices", "10", "--records", "150")
        #expect(live.output.hasPrefix("150 calls of 10 stock clients: "), "\(live.output)")
        #expect(live.output.contains("10 by attestation") && live.output.contains("refused: none"), "\(live.output)")
        worker.expectEnd()
        #expect(try Outcomes(of: workplace).counts == ["accepted": 150])
    }
}
