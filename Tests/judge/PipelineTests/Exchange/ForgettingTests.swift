import AppAttest
import AppCheck
import DeviceLab
import JSON
import Pipeline
import SimulationKit
import Streams
import TestKit
import Testing

/// Used challenges and tokens expire by stream time, and an expired one is never accepted again.
@Suite struct ForgettingTests {
    private struct Bench {
        let rig: ExchangeRig
        private var devices: [(device: FakeDevice, artifact: [UInt8])]

        init(devices count: UInt64) throws {
            let keys = try ExchangeKit.keys(tokens: [ExchangeKit.es256()])
            rig = try ExchangeRig(ExchangeKit.settings(keys: keys) { $0.tokens.algorithm = .es256 })
            devices = try rig.register(0..<count)
        }

        mutating func use(_ challenge: [UInt8], by index: Int = 0, limitedUse: Bool = false) -> ExchangeRequest {
            .assertion(
                of: &devices[index].device,
                artifact: devices[index].artifact,
                challenge: challenge,
                limitedUse: limitedUse
            )
        }

        /// The first device attests again.
        func attestation(_ challenge: [UInt8]) -> ExchangeRequest {
            .attestation(of: devices[0].device, challenge: challenge)
        }

        /// A limited-use token for every device, consumed immediately. Returns the requests that used the challenge.
        mutating func round() throws -> [ExchangeRequest] {
            let challenge = try rig.challenge()
            let requests = devices.indices.map { use(challenge, by: $0, limitedUse: true) }
            let answers = try rig.send(requests)
            #expect(answers.allSatisfy { $0.verdict == "accepted" })
            let uses = try rig.send(answers.compactMap(\.tokenText).map { .verification(of: $0) })
            #expect(uses.allSatisfy { $0.result?["response"]?.members.isEmpty == true })
            return requests
        }
    }

    private static func count(_ rig: ExchangeRig, _ type: UInt8?) -> Int {
        rig.streams.compacted.count { $0.key.first == type }
    }

    @Test func `over a long run the compacted ledger topic stays bounded`() throws {
        var bench = try Bench(devices: 10)
        var largest = 0
        for round in 0..<120 {
            _ = try bench.round()
            bench.rig.time += 30_000
            let size = bench.rig.streams.compacted.count
            if round >= 40 { largest = max(largest, size) }
        }
        // 10 minutes of ids at most, each used by ten devices, beside the keys and three records of bookkeeping.
        #expect(bench.rig.streams.ledger.count > 2 * 120 * 10)
        #expect(largest <= 10 + 3 + 2 * 10 * 12)
        #expect(bench.rig.loop.ledgers[0]?.consumedCount ?? .max <= 2 * 10 * 12)
        bench.rig.time += 400_000
        for _ in 0..<3 { _ = try bench.rig.challenge() }
        #expect(Self.count(bench.rig, LedgerTypes.challenge) == 0)
        #expect(Self.count(bench.rig, LedgerTypes.token) == 0)
        #expect(bench.rig.loop.ledgers[0]?.consumedCount == 0)
        // Keys, stream time and the sealing key in use are all that is left.
        #expect(bench.rig.streams.compacted.count == 12)
    }

    @Test func `used challenges and tokens stay in the ledger until they expire, in a new worker's too`() throws {
        var bench = try Bench(devices: 2)
        _ = try bench.round()
        #expect(Self.count(bench.rig, LedgerTypes.challenge) == 4)
        #expect(Self.count(bench.rig, LedgerTypes.token) == 2)
        let before = bench.rig.loop.ledgers[0]?.consumedCount
        try bench.rig.restart()
        #expect(bench.rig.loop.ledgers[0]?.consumedCount == before && before == 6)
    }

    @Test(arguments: [true, false])
    func `a restored ledger never accepts a forgotten challenge again, whatever time or batch the last record had`(
        isAtomic: Bool
    ) throws {
        var bench = try Bench(devices: 1)
        let rig = bench.rig
        rig.streams.isAtomic = isAtomic
        let challenge = try rig.challenge()
        #expect(try rig.send(bench.use(challenge)).verdict == "accepted")
        let early = rig.time
        rig.time += 400_000
        _ = try rig.challenge()
        #expect(rig.loop.ledgers[0]?.consumedCount == 0)
        #expect(Self.count(rig, LedgerTypes.streamTime) == 1)
        // A broker's clock that went back; by its time the challenge would still be valid.
        #expect(try rig.send(bench.use(challenge).at(early + 1)).reason == "challenge-expired")
        // A batch of dead letters has no time of its own, only an offset.
        _ = try rig.send(ExchangeRequest(Array("no JSON".utf8)))
        try rig.restart()
        #expect(rig.loop.ledgers[0]?.streamTime.milliseconds == rig.time)
        #expect(try rig.send(bench.use(challenge).at(early + 1)).reason == "challenge-expired")
    }

    @Test func `with at-least-once the topic's applied offset never goes back while old records are replayed`() throws {
        var bench = try Bench(devices: 1)
        let rig = bench.rig
        rig.streams.isAtomic = false
        for _ in 0..<3 { _ = try bench.round() }
        let (end, written) = (rig.streams.end(of: 0), rig.streams.ledger.count)
        rig.streams.loseOffsets()
        rig.streams.mostRecords = 1
        try rig.restart()
        let offsets = try rig.streams.ledger[written...].compactMap { record -> Int64? in
            let change = try LedgerCodec.decode(key: record.key, value: record.value)
            if case .mark(let mark) = change { return mark.position.appliedOffset }
            return nil
        }
        #expect(!offsets.isEmpty && offsets.allSatisfy { $0 == end })
    }

    @Test(arguments: [true, false])
    func `with at-least-once a crash after the key's record leaves its challenge used`(isAssertion: Bool) throws {
        var bench = try Bench(devices: 1)
        let rig = bench.rig
        rig.streams.isAtomic = false
        let challenge = try rig.challenge()
        let request = (isAssertion ? bench.use(challenge) : bench.attestation(challenge)).with(id: "r1")
        let written = rig.streams.ledger.count
        #expect(try rig.send(request).verdict == "accepted")
        // Keys are written first.
        #expect(rig.streams.ledger[written].key.count == 33)
        rig.streams.cutLedger(to: written + 1)
        try rig.restart()
        #expect(rig.loop.ledgers[0]?.challenges.count == 1)
        #expect(try rig.send(request).isDuplicate)
        #expect(try rig.send(bench.use(challenge)).reason == "challenge-consumed")
    }

    @Test func `an id is forgotten only after it has expired`() throws {
        var bench = try Bench(devices: 1)
        let challenge = try bench.rig.challenge()
        for (later, summary) in [(0, "accepted"), (299_999, "challenge-consumed"), (1, "challenge-expired")] {
            bench.rig.time += Int64(later)
            #expect(try bench.rig.send(bench.use(challenge)).summary == summary)
        }
    }

    @Test func `a record from the future does not expire any challenge`() throws {
        let (rig, device) = try ExchangeRig.fresh()
        let challenge = try rig.challenge()
        let ahead = try rig.send(ExchangeRequest.challenge().at(rig.time + 3_600_000))
        #expect(ahead.reason == "from-future" && ahead.code == 503)
        #expect(try rig.send(.attestation(of: device, challenge: challenge)).verdict == "accepted")
    }
}
