import AppAttest
import AppCheck
import Crypto
import DeviceLab
import Pipeline
import SimulationKit
import Streams
import TestKit
import Testing

/// Bans of keys and installations, through the real loop and a restart with the compacted ledger.
@Suite("Bans")
struct BanTests {
    /// A rig, and a device that is registered in it.
    private struct Bench {
        let rig: ExchangeRig
        var device: FakeDevice
        let artifact: [UInt8]
        let keys: KeyRings
        private var commands: UInt8 = 0

        init(partitions: Int32 = 1) throws {
            keys = try ExchangeKit.keys()
            rig = try ExchangeRig(ExchangeKit.settings(keys: keys, partitions: partitions), partitions: partitions)
            device = FakeDevice(ExchangeKit.model, seed: 3)
            artifact = try rig.register(device)
        }

        mutating func command(
            _ verb: OperatorCommand.Action,
            _ subject: OperatorCommand.Subject? = nil,
            on partition: Int32? = nil
        ) throws -> ExchangeRequest {
            commands += 1
            let subject = subject ?? .key(device.keyID)
            return try .command(.sample(verb, subject, at: rig.time, seed: commands, on: partition), keys)
        }

        mutating func refresh() throws -> String? { try rig.refresh(&device, artifact).summary }
    }

    private static let fid = OperatorCommand.Subject.installation(BanID.installation("fid-1"))

    @Test func `a banned key is refused, over a restart and a new attestation, until it is lifted`() throws {
        var bench = try Bench()
        #expect(try bench.refresh() == "accepted")
        let answer = try bench.rig.send(bench.command(.ban))
        #expect(answer.verdict == "accepted" && answer.event == nil && answer.answer == nil)
        let refused = try bench.rig.refresh(&bench.device, bench.artifact)
        #expect(refused.reason == "banned" && refused.code == 403)
        #expect(refused.eventName == "AppAttestFailure")
        try bench.rig.restart()
        #expect(try bench.refresh() == "banned")
        let challenge = try bench.rig.challenge()
        let attested = try bench.rig.send(.attestation(of: bench.device, challenge: challenge))
        #expect(attested.summary == "banned" && attested.artifact == nil)
        #expect(try bench.refresh() == "banned")
        #expect(try bench.rig.send(bench.command(.unban)).verdict == "accepted")
        #expect(try bench.refresh() == "accepted")
        try bench.rig.restart()
        #expect(try bench.refresh() == "accepted")
        #expect(bench.rig.loop.ledgers[0]?.bans.isEmpty == true)
    }

    @Test func `within one batch exactly the requests behind the ban are refused`() throws {
        var bench = try Bench()
        let challenge = try bench.rig.challenge()
        var requests: [ExchangeRequest] = []
        for index in 0..<6 {
            if index == 2 { requests.append(try bench.command(.ban)) }
            if index == 4 { requests.append(try bench.command(.unban)) }
            let other = try bench.rig.challenge()
            requests.append(.assertion(of: &bench.device, artifact: bench.artifact, challenge: other))
        }
        _ = challenge
        let answers = try bench.rig.send(requests).map(\.summary)
        let (yes, no) = ("accepted", "banned")
        #expect(answers == [yes, yes, yes, no, no, yes, yes, yes])
    }

    @Test func `the plain verbs of a banned key are refused, those of another key are not`() throws {
        let keys = try ExchangeKit.keys()
        let rig = try ExchangeRig(ExchangeKit.settings(keys: keys))
        let (banned, free) = (FakeDevice(ExchangeKit.model, seed: 5), FakeDevice(ExchangeKit.model, seed: 6))
        func attest(_ device: FakeDevice) throws -> String? {
            try rig.send(Self.plain(.verifyAttestation, device)).summary
        }
        func assert(_ device: FakeDevice, _ counter: UInt32) throws -> String? {
            try rig.send(Self.plain(.verifyAssertion, device, counter)).summary
        }
        #expect(try attest(banned) == "accepted" && attest(free) == "accepted")
        #expect(try rig.send(.command(.sample(.ban, .key(banned.keyID), at: rig.time), keys)).verdict == "accepted")
        #expect(try assert(banned, 1) == "banned" && attest(banned) == "banned")
        #expect(try assert(free, 1) == "accepted")
        // A key that was never seen may be banned too.
        let stranger = FakeDevice(ExchangeKit.model, seed: 7)
        let ban = OperatorCommand.sample(.ban, .key(stranger.keyID), at: rig.time, seed: 1)
        #expect(try rig.send(.command(ban, keys)).verdict == "accepted")
        #expect(try attest(stranger) == "banned" && assert(stranger, 1) == "banned")
    }

    static let hash = SHA256.hash([1, 2, 3]).bytes

    private static func plain(_ verb: Verb, _ device: FakeDevice, _ counter: UInt32 = 1) -> ExchangeRequest {
        let made = EvaluationTime(milliseconds: ExchangeKit.start - 1000)
        let object =
            verb == .verifyAttestation
            ? device.attest(clientDataHash: hash, at: made) : device.assertion(clientDataHash: hash, counter: counter)
        let value = RequestRecords.value(
            verb: verb,
            object: object,
            keyID: device.keyID,
            clientDataHash: hash,
            path: "v1/" + ExchangeKit.resource
        )
        return ExchangeRequest(value, key: device.keyID.recordKey)
    }

    @Test func `the duplicate of an accepted request is answered as before, whatever was banned since`() throws {
        var bench = try Bench()
        let challenge = try bench.rig.challenge()
        let request = ExchangeRequest.assertion(of: &bench.device, artifact: bench.artifact, challenge: challenge)
            .with(id: "r1")
        let first = try bench.rig.send(request)
        _ = try bench.rig.send(bench.command(.ban))
        let again = try bench.rig.send(request)
        #expect(again.isDuplicate && again.tokenText == first.tokenText)
        #expect(try bench.rig.send(request.with(id: "r2")).summary == "banned")
    }

    @Test func `a ban comes before everything else that is wrong`() throws {
        var bench = try Bench()
        _ = try bench.rig.send(bench.command(.ban))
        let challenge = try bench.rig.challenge()
        let wrong: [ExchangeRequest] = [
            .attestation(of: bench.device, challenge: [1]),
            .attestation(of: bench.device, challenge: challenge, fault: .leafIsCA),
            .assertion(of: &bench.device, artifact: bench.artifact, challenge: challenge, fault: .signatureFlipped),
            .attestation(of: bench.device, challenge: challenge).at(bench.rig.time - 500_000_000),
        ]
        for request in wrong { #expect(try bench.rig.send(request).summary == "banned") }
        // A body that names no key is refused before the state is asked.
        let shapeless = ExchangeRequest(Array(#"{"path":"v1/\#(ExchangeKit.resource):verifyAssertion"}"#.utf8))
        #expect(try bench.rig.send(shapeless).summary == "malformed-request")
    }

    @Test func `an installation's ban refuses what carries it, on the partitions that have the ban`() throws {
        var bench = try Bench(partitions: 2)
        let home = ExchangeKit.partition(of: bench.device.keyID.recordKey, 2)
        _ = try bench.rig.send(bench.command(.ban, Self.fid, on: 0))
        _ = try bench.rig.send(bench.command(.ban, Self.fid, on: 1))
        func send(_ installation: String?) throws -> [String?] {
            var asked = ExchangeRequest.challenge()
            asked.partition = home
            if let installation { asked = asked.carrying(installation) }
            let challenge = try bench.rig.challenge()
            var refreshing = ExchangeRequest.assertion(
                of: &bench.device,
                artifact: bench.artifact,
                challenge: challenge
            )
            if let installation { refreshing = refreshing.carrying(installation) }
            return [try bench.rig.send(asked).summary, try bench.rig.send(refreshing).summary]
        }
        #expect(try send("fid-1") == ["banned", "banned"])
        #expect(try send("fid-2") == ["accepted", "accepted"])
        #expect(try send(nil) == ["accepted", "accepted"])
        try bench.rig.restart()
        #expect(try send("fid-1") == ["banned", "banned"])
        _ = try bench.rig.send(bench.command(.unban, Self.fid, on: home))
        #expect(try send("fid-1") == ["accepted", "accepted"])
        #expect(bench.rig.loop.ledgers[1 - home]?.bans.count == 1)
        // The ledger has a hash and nothing else of it.
        let written = bench.rig.streams.ledger.map { $0.key + ($0.value ?? []) }
        #expect(!written.contains { $0.contains(Array("fid-1".utf8)) })
    }

    @Test func `a token's check that carries a banned installation is refused`() throws {
        var bench = try Bench()
        let challenge = try bench.rig.challenge()
        let token = try #require(
            try bench.rig.send(
                .assertion(of: &bench.device, artifact: bench.artifact, challenge: challenge, limitedUse: true)
            ).tokenText
        )
        _ = try bench.rig.send(bench.command(.ban, Self.fid, on: 0))
        #expect(try bench.rig.send(ExchangeRequest.verification(of: token).carrying("fid-1")).summary == "banned")
        #expect(try bench.rig.send(.verification(of: token)).summary == "accepted")
    }

    @Test func `a copy of a command does nothing: at once, after another command, and late`() throws {
        var bench = try Bench()
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
        var bench = try Bench(partitions: 2)
        let home = ExchangeKit.partition(of: bench.device.keyID.recordKey, 2)
        var stray = try bench.command(.ban)
        stray.partition = 1 - home
        #expect(try bench.rig.send(stray).summary == "key-mismatch")
        var keyless = try bench.command(.ban)
        (keyless.key, keyless.partition) = (nil, home)
        #expect(try bench.rig.send(keyless).summary == "key-mismatch")
        var elsewhere = try bench.command(.ban, Self.fid, on: 0)
        elsewhere.partition = 1
        #expect(try bench.rig.send(elsewhere).summary == "key-mismatch")
        #expect(bench.rig.loop.ledgers.values.allSatisfy { $0.bans.isEmpty })
        #expect(try bench.refresh() == "accepted")
    }

    @Test func `a command waits in a backlog as long as it must: its age is judged at its own time`() throws {
        var bench = try Bench()
        let written = try bench.command(.ban).at(bench.rig.time)
        bench.rig.time += 10 * 86_400_000
        #expect(try bench.rig.send(written).summary == "accepted")
        #expect(try bench.refresh() == "banned")
    }
}
