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

@testable import Lab

extension WorkProgramTests {
    /// Keys of worker.json by what they are for, in the order of their lists.
    private func keyIDs(_ workplace: ProgramWorkplace) throws -> [[String]] {
        let configuration = try Configuration.load(directory: workplace.config)
        return [
            configuration.signingKeys.map(\.kid), configuration.sealingKeys.map(\.id),
            configuration.challengeKeys.map(\.id),
        ]
    }

    private func fleet(_ workplace: ProgramWorkplace, devices: Int, wishes: [StockMember.Wish]) throws -> StockFleet {
        let configuration = try Configuration.load(directory: workplace.config)
        let members = StockFleet.members(
            configuration.registry.apps.compactMap(SimulatedApp.init),
            ca: try NewConfiguration.authority(of: workplace.config),
            devices: devices,
            seed: 7,
            wishes: wishes
        )
        let link = try KafkaStockLink(
            properties: workplace.properties.pairs.map { ($0.name, $0.value) },
            topics: configuration.topics,
            partitions: workplace.partitions
        )
        return StockFleet(members, link: link, prefix: "stock-" + UUID().uuidString)
    }

    /// Lets the clients go on until something holds.
    private func serve(_ fleet: StockFleet, seconds: Int = 90, until holds: () throws -> Bool) throws {
        let isThere = try Deadline.wait(seconds) {
            let now = EvaluationTime(milliseconds: Int64(Date.now.timeIntervalSince1970 * 1000))
            try fleet.step(at: now, milliseconds: 10)
            return try holds()
        }
        try #require(isThere, "the clients did not come so far: \(fleet.tally.calls) calls, \(fleet.tally.refused)")
    }

    /// Brings fresh keys of each kind into use while calls are on their way. The worker knows each one before its use.
    private func rotate(_ workplace: ProgramWorkplace, _ worker: ProgramProcess, _ fleet: StockFleet) throws {
        let before = try keyIDs(workplace)
        try workplace.done("new-keys", "--add")
        worker.signal(SIGHUP)
        #expect(worker.says("the configuration is reloaded"), "\(worker.error)")
        try serve(fleet) { fleet.tally.consumed >= 25 }
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
        let rounds: [StockMember.Wish] = [.refresh, .limitedUse, .refresh, .limitedUse, .refresh, .limitedUse]
        let fleet = try fleet(workplace, devices: 20, wishes: [.session] + rounds)
        let oldKid = try #require(try keyIDs(workplace)[0].first)
        var worker = try workplace.start("run", "--instance", "one")
        // In the middle of the handshakes; what was asked meanwhile is answered by the next process.
        try serve(fleet) { fleet.tally.sessions >= 5 }
        worker.signal(SIGKILL)
        #expect(worker.waitForEnd(seconds: 10) == .signal(SIGKILL))
        try serve(fleet, seconds: 2) { fleet.tally.calls >= 40 || fleet.isDone }
        worker = try workplace.start("run", "--instance", "one")
        try serve(fleet) { fleet.tally.consumed >= 10 }
        try rotate(workplace, worker, fleet)
        try serve(fleet) { fleet.isDone || !worker.isRunning }
        try fleet.close()
        worker.signal(SIGTERM)
        #expect(worker.waitForEnd() == .exit(0), "\(worker.error)")

        let tally = fleet.tally
        #expect(tally.refused == [:] && tally.faults == [] && tally.lost == 0, "\(tally.refused) \(tally.faults)")
        #expect(tally.sessions == 20 && tally.refreshed == 60 && tally.limitedUse == 60)
        #expect(tally.consumed == 60 && tally.checks == 120)
        #expect(tally.minted == 140 && tally.tokens.count == 140 && Set(tally.tokens).count == 140)
        #expect(fleet.members.allSatisfy { $0.client.isRegistered && $0.client.keysMade == 1 })
        try expectVerified(tally.tokens, workplace, oldKid: oldKid)
        try expectSecret(tally.tokens, workplace)
        #expect(try Outcomes(of: workplace).counts == ["accepted": tally.calls])
    }

    /// All tokens, of either key, verify with the set that is published in the end.
    private func expectVerified(_ tokens: [String], _ workplace: ProgramWorkplace, oldKid: String) throws {
        let keySet = Array(try workplace.done("jwks").output.utf8)
        var kids: Set<String> = []
        for token in tokens {
            let read = try #require(ReadToken(Array(token.utf8)))
            #expect(read.isSigned(by: keySet))
            kids.insert(try #require(try JSONDocument(parsing: read.header).root["kid"]?.string))
        }
        #expect(kids.count == 2 && kids.contains(oldKid), "tokens of the old key and of the new one: \(kids)")
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
        worker.signal(SIGTERM)
        #expect(worker.waitForEnd() == .exit(0))
        #expect(try Outcomes(of: workplace).counts == ["accepted": 150])
    }
}
