import AppAttest
import AppCheck
import Crypto
import DeviceLab
import Pipeline
import SimulationKit
import Streams
import TestKit
import Testing

/// Bans that end, through the real loop and restarts with the compacted ledger.
@Suite("Bans with an end")
struct EndingBanTests {
    @Test(arguments: [(59_999, "banned"), (60_000, "accepted"), (60_001, "accepted")] as [(Int64, String)])
    func `a ban counts before its end and not from it on, by the records' times`(
        after: Int64,
        expected: String
    ) throws {
        var bench = try BanBench()
        let start = bench.rig.time
        #expect(try bench.rig.send(bench.command(until: 60_000)).summary == "accepted")
        #expect(try bench.refresh() == "banned")
        #expect(try bench.refresh(at: start + after) == expected)
    }

    @Test func `the worker's clock ends no ban, and a record from before the end does not bring it back`() throws {
        var bench = try BanBench()
        let start = bench.rig.time
        _ = try bench.rig.send(bench.command(until: 60_000))
        // The clock is far beyond the end; the record in the backlog is not.
        bench.rig.time += 3_600_000
        let behind = ExchangeRequest.challenge().at(start + 50_000)
        #expect(try bench.rig.send(behind.carrying("fid-1")).summary == "accepted")
        #expect(bench.ban?.counts(at: EvaluationTime(milliseconds: start + 59_999)) == true)
        #expect(try bench.rig.send(ExchangeRequest.challenge().at(start + 60_000)).summary == "accepted")
        // The partition's time is beyond the end now, and never goes back.
        #expect(try bench.refresh(at: start + 55_000) != "banned")
    }

    @Test func `within one batch exactly the requests before the end are refused`() throws {
        var bench = try BanBench()
        let start = bench.rig.time
        var requests = [try bench.command(until: 10)]
        for number in 0..<4 { requests.append(try bench.assertion().at(start + Int64(number) * 5)) }
        let answers = try bench.rig.send(requests).map(\.summary)
        #expect(answers == ["accepted", "banned", "banned", "accepted", "accepted"])
    }

    @Test func `an installation's ban ends too`() throws {
        var bench = try BanBench()
        _ = try bench.rig.send(bench.command(.ban, BanBench.fid, on: 0, until: 60_000))
        let asked = ExchangeRequest.challenge().carrying("fid-1")
        #expect(try bench.rig.send(asked).summary == "banned")
        bench.rig.time += 60_000
        #expect(try bench.rig.send(asked).summary == "accepted")
    }

    @Test func `an ended ban is removed from memory and topic, and no restart brings it back`() throws {
        var bench = try BanBench()
        _ = try bench.rig.send(bench.command(until: 60_000))
        try bench.rig.restart()
        #expect(bench.ban?.until == EvaluationTime(milliseconds: bench.rig.time + 60_000))
        #expect(try bench.refresh() == "banned")
        bench.rig.time += 75_000
        // The first batch beyond the end learns the time, and forgets.
        #expect(try bench.refresh() == "accepted")
        #expect(bench.ban == nil && bench.written == .some(nil))
        try bench.rig.restart()
        #expect(bench.rig.loop.ledgers[0]?.bans.isEmpty == true)
        #expect(try bench.refresh() == "accepted")
    }

    @Test func `the last ban says when it ends, and when it began stays`() throws {
        var bench = try BanBench()
        let start = bench.rig.time
        _ = try bench.rig.send(bench.command(until: 60_000))
        let first = try #require(bench.ban)
        bench.rig.time += 1_000
        _ = try bench.rig.send(bench.command(until: 3_600_000))
        let second = try #require(bench.ban)
        #expect(second.since == first.since && second.until == EvaluationTime(milliseconds: start + 3_601_000))
        #expect(try #require(second.offset) > #require(first.offset), "the record that says so")
        bench.rig.time = start + 90_000
        #expect(try bench.refresh() == "banned", "the first end is no longer one")
        _ = try bench.rig.send(bench.command())
        #expect(bench.ban?.until == nil && bench.ban?.since == first.since)
        bench.rig.time = start + 7_200_000
        #expect(try bench.refresh() == "banned")
        _ = try bench.rig.send(bench.command(until: 60_000))
        bench.rig.time += 90_000
        #expect(try bench.refresh() == "accepted")
    }

    @Test func `a ban after the end of another is a new one, also in the batch that forgets the old one`() throws {
        var bench = try BanBench()
        _ = try bench.rig.send(bench.command(until: 60_000))
        bench.rig.time += 120_000
        #expect(try bench.rig.send(bench.command(until: 60_000)).summary == "accepted")
        #expect(bench.ban?.since == EvaluationTime(milliseconds: bench.rig.time))
        #expect(try bench.refresh() == "banned")
        try bench.rig.restart()
        #expect(try bench.refresh() == "banned")
        #expect(try bench.rig.send(bench.command(.unban)).summary == "accepted")
        #expect(try bench.refresh() == "accepted" && bench.ban == nil)
    }

    @Test func `in a shared ledger each ban ends by the time of its own requests' partition`() throws {
        let keys = try ExchangeKit.keys()
        var settings = try ExchangeKit.settings(keys: keys, partitions: 2)
        (settings.sharesLedger, settings.partitionOfKey) = (true, nil)
        let rig = try ExchangeRig(settings, partitions: 2, isLive: false)
        let start = rig.time
        let stranger = FakeDevice(ExchangeKit.model, seed: 9)
        let until = start + 60_000
        var ban = try ExchangeRequest.command(.sample(.ban, .key(stranger.keyID), at: start, until: until), keys)
        ban.partition = 1
        #expect(try rig.send(ban).summary == "accepted")
        // The ledger's own partition is hours ahead.
        var other = ExchangeRequest.challenge().at(start + 7_200_000)
        other.partition = 0
        _ = try rig.send([other, other])
        _ = try rig.send(other)
        #expect(rig.loop.ledgers[0]?.bans.count == 1)
        var late = ExchangeRequest.attestation(of: stranger, challenge: [1]).at(until - 1)
        late.partition = 1
        #expect(try rig.send(late).summary == "banned")
        #expect(try rig.send(late.at(until)).summary != "banned")
    }

    // MARK: What is told

    @Test func `what a command has done is told once, when it has, with its record and its key and no secret`() throws {
        var bench = try BanBench()
        let ban = try bench.command(until: 60_000)
        _ = try bench.rig.send(ban)
        #expect(bench.rig.acts.count == 1)
        let act = try #require(bench.rig.acts.first)
        let key = try #require(OperatorKeys(bench.keys).active)
        let text = "\(act)"
        #expect(text.hasPrefix("ban of key \(bench.device.keyID.base64) until "), "\(text)")
        #expect(
            text.contains("by record 0/\(act.offset)") && text.contains(ReportValue.bytes(key.id.bytes).description)
        )
        // A copy does nothing, and nothing is told of it; nor of what is no command.
        #expect(try bench.rig.send(ban).summary == "challenge-consumed")
        _ = try bench.refresh()
        #expect(bench.rig.acts.count == 1)
        _ = try bench.rig.send([try bench.command(.unban), try bench.command(.forget)])
        #expect(bench.rig.acts.map(\.command.action) == [.ban, .unban, .forget])
        _ = try bench.rig.send(bench.command(.ban, BanBench.fid, on: 0))
        let installation = try #require(bench.rig.acts.last)
        #expect("\(installation)".hasPrefix("ban of installation ") && !"\(installation)".contains("fid-1"))
    }
}
