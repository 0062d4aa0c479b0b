import AppAttest
import AppCheck
import DeviceLab
import Pipeline
import SimulationKit
import Streams
import TestKit
import Testing

/// Bans of keys and installations, through the real loop and a restart with the compacted ledger.
@Suite("Bans")
struct BanTests {
    @Test func `a banned key is refused, over a restart and a new attestation, until it is lifted`() throws {
        var bench = try BanBench()
        #expect(try bench.refresh() == "accepted")
        let answer = try bench.rig.send(bench.command(.ban))
        #expect(answer.verdict == "accepted" && answer.event == nil && answer.answer == nil)
        let refused = try bench.rig.refresh(&bench.device, bench.artifact)
        #expect(refused.reason == "banned" && refused.code == 403)
        #expect(refused.eventName == "AppAttestFailure")
        try bench.rig.restart()
        #expect(try bench.refresh() == "banned")
        let attested = try bench.rig.send(bench.rig.attestation(of: bench.device))
        #expect(attested.summary == "banned" && attested.artifact == nil)
        #expect(try bench.refresh() == "banned")
        #expect(try bench.rig.send(bench.command(.unban)).verdict == "accepted")
        #expect(try bench.refresh() == "accepted")
        try bench.rig.restart()
        #expect(try bench.refresh() == "accepted")
        #expect(bench.rig.loop.ledgers[0]?.bans.isEmpty == true)
    }

    @Test func `within one batch exactly the requests behind the ban are refused`() throws {
        var bench = try BanBench()
        var requests: [ExchangeRequest] = []
        for index in 0..<6 {
            if index == 2 { requests.append(try bench.command(.ban)) }
            if index == 4 { requests.append(try bench.command(.unban)) }
            requests.append(try bench.assertion())
        }
        let answers = try bench.rig.send(requests).map(\.summary)
        let (yes, no) = ("accepted", "banned")
        #expect(answers == [yes, yes, yes, no, no, yes, yes, yes])
    }

    @Test func `the plain verbs of a banned key are refused, those of another key are not`() throws {
        let rig = try ExchangeRig(ExchangeKit.settings())
        let (banned, free) = (FakeDevice(ExchangeKit.model, seed: 5), FakeDevice(ExchangeKit.model, seed: 6))
        func attest(_ device: FakeDevice) throws -> String? {
            try rig.send(.verifyAttestation(of: device)).summary
        }
        func assert(_ device: FakeDevice, _ counter: UInt32) throws -> String? {
            try rig.send(.verifyAssertion(of: device, counter: counter)).summary
        }
        #expect(try attest(banned) == "accepted" && attest(free) == "accepted")
        #expect(try rig.send(rig.command(.ban, banned)).verdict == "accepted")
        #expect(try assert(banned, 1) == "banned" && attest(banned) == "banned")
        #expect(try assert(free, 1) == "accepted")
        // A key that was never seen may be banned too.
        let stranger = FakeDevice(ExchangeKit.model, seed: 7)
        #expect(try rig.send(rig.command(.ban, stranger, seed: 1)).verdict == "accepted")
        #expect(try attest(stranger) == "banned" && assert(stranger, 1) == "banned")
    }

    @Test func `the duplicate of an accepted request is answered as before, whatever was banned since`() throws {
        var bench = try BanBench()
        let request = try bench.assertion().with(id: "r1")
        let first = try bench.rig.send(request)
        _ = try bench.rig.send(bench.command(.ban))
        let again = try bench.rig.send(request)
        #expect(again.isDuplicate && again.tokenText == first.tokenText)
        #expect(try bench.rig.send(request.with(id: "r2")).summary == "banned")
    }

    @Test func `a ban comes before everything else that is wrong`() throws {
        var bench = try BanBench()
        _ = try bench.rig.send(bench.command(.ban))
        let challenge = try bench.rig.challenge()
        let wrong: [ExchangeRequest] = [
            .attestation(of: bench.device, challenge: [1]),
            .attestation(of: bench.device, challenge: challenge, fault: .leafIsCA),
            try bench.rig.assertion(of: &bench.device, bench.artifact, fault: .signatureFlipped),
            .attestation(of: bench.device, challenge: challenge).at(bench.rig.time - 500_000_000),
        ]
        for request in wrong { #expect(try bench.rig.send(request).summary == "banned") }
        // A body that names no key is refused before the state is asked.
        let shapeless = ExchangeRequest(Array(#"{"path":"v1/\#(ExchangeKit.resource):verifyAssertion"}"#.utf8))
        #expect(try bench.rig.send(shapeless).summary == "malformed-request")
    }

    @Test func `an installation's ban refuses what carries it, on the partitions that have the ban`() throws {
        var bench = try BanBench(partitions: 2)
        let home = ExchangeKit.partition(of: bench.device.keyID.recordKey, 2)
        _ = try bench.rig.send(bench.command(.ban, BanBench.fid, on: 0))
        _ = try bench.rig.send(bench.command(.ban, BanBench.fid, on: 1))
        func send(_ installation: String?) throws -> [String?] {
            var asked = ExchangeRequest.challenge()
            asked.partition = home
            if let installation { asked = asked.carrying(installation) }
            var refreshing = try bench.assertion()
            if let installation { refreshing = refreshing.carrying(installation) }
            return [try bench.rig.send(asked).summary, try bench.rig.send(refreshing).summary]
        }
        #expect(try send("fid-1") == ["banned", "banned"])
        #expect(try send("fid-2") == ["accepted", "accepted"])
        #expect(try send(nil) == ["accepted", "accepted"])
        try bench.rig.restart()
        #expect(try send("fid-1") == ["banned", "banned"])
        _ = try bench.rig.send(bench.command(.unban, BanBench.fid, on: home))
        #expect(try send("fid-1") == ["accepted", "accepted"])
        #expect(bench.rig.loop.ledgers[1 - home]?.bans.count == 1)
        // The ledger has a hash and nothing else of it.
        let written = bench.rig.streams.ledger.map { $0.key + ($0.value ?? []) }
        #expect(!written.contains { $0.contains(Array("fid-1".utf8)) })
    }

    @Test func `a token's check that carries a banned installation is refused`() throws {
        var bench = try BanBench()
        let token = try #require(bench.rig.send(bench.assertion(limitedUse: true)).tokenText)
        _ = try bench.rig.send(bench.command(.ban, BanBench.fid, on: 0))
        #expect(try bench.rig.send(ExchangeRequest.verification(of: token).carrying("fid-1")).summary == "banned")
        #expect(try bench.rig.send(.verification(of: token)).summary == "accepted")
    }

    @Test func `a copy of a command does nothing: at once, after another command, and late`() throws {
        var bench = try BanBench()
        let ban = try bench.command(.ban).with(id: "b1")
        #expect(try bench.rig.send(ban).summary == "accepted")
        #expect(try bench.rig.send(bench.command(.unban)).summary == "accepted")
        #expect(try bench.rig.send(ban).summary == "challenge-consumed", "with its id and all")
        #expect(try bench.rig.send(ban.with(id: "b2")).summary == "challenge-consumed")
        #expect(try bench.refresh() == "accepted")
        try bench.rig.restart()
        #expect(try bench.rig.send(ban.with(id: "b3")).summary == "challenge-consumed")
        bench.rig.time += OperatorCommand.lifeMilliseconds
        #expect(try bench.rig.send(ban).summary == "challenge-expired")
        #expect(try bench.refresh() == "accepted")
        let early = OperatorCommand.sample(.ban, .key(bench.device.keyID), at: bench.rig.time + 300_001, seed: 99)
        #expect(try bench.rig.send(.command(early, bench.keys)).summary == "challenge-ahead")
        #expect(try bench.refresh() == "accepted")
    }

    @Test func `a command on a wrong partition, or under another key, is refused and changes nothing`() throws {
        var bench = try BanBench(partitions: 2)
        let home = ExchangeKit.partition(of: bench.device.keyID.recordKey, 2)
        var stray = try bench.command(.ban)
        stray.partition = 1 - home
        #expect(try bench.rig.send(stray).summary == "key-mismatch")
        var keyless = try bench.command(.ban)
        (keyless.key, keyless.partition) = (nil, home)
        #expect(try bench.rig.send(keyless).summary == "key-mismatch")
        var elsewhere = try bench.command(.ban, BanBench.fid, on: 0)
        elsewhere.partition = 1
        #expect(try bench.rig.send(elsewhere).summary == "key-mismatch")
        #expect(bench.rig.loop.ledgers.values.allSatisfy { $0.bans.isEmpty })
        #expect(try bench.refresh() == "accepted")
    }

    @Test func `a command waits in a backlog as long as it must: its age is judged at its own time`() throws {
        var bench = try BanBench()
        let written = try bench.command(.ban).at(bench.rig.time)
        bench.rig.time += 10 * 86_400_000
        #expect(try bench.rig.send(written).summary == "accepted")
        #expect(try bench.refresh() == "banned")
    }
}
