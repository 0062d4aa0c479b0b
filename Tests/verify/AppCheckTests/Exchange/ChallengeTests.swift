import AppAttest
import AppCheck
import Crypto
import TestKit
import Testing

@Suite struct ChallengeTests {
    private let random: [UInt8] = Array(1...16)

    private func challenge(_ ring: ChallengeKeyRing, at time: EvaluationTime = Exchange.now) throws -> [UInt8] {
        try #require(ring.active).seal(app: ExchangeKit.name, issuedAt: time, random: random)
    }

    @Test func `a challenge has a fixed length, holds its issue time, and opens for its app`() throws {
        let ring: ChallengeKeyRing = try ExchangeKit.ring([1])
        let bytes = try challenge(ring)
        #expect(bytes.count == 59 && ChallengeKey.byteCount == 59)
        #expect(bytes.first == 1)
        #expect(Array(bytes[1..<5]) == SealingKeyID(of: "key-1").bytes)
        #expect(Array(bytes[1..<5]) == Array(SHA256.hash(Array("key-1".utf8)).bytes.prefix(4)))
        #expect(Array(bytes[11..<27]) == random)
        let opened = try ring.open(bytes, app: ExchangeKit.name, ttl: 300_000, at: Exchange.now).get()
        #expect(opened.issuedAt == Exchange.now)
        #expect(opened.expiresAt.milliseconds == Exchange.now.milliseconds + 300_000)
    }

    @Test
    func `a flipped bit of the key's id is challenge-key-unknown; any other, a missing or an extra byte is invalid`()
        throws
    {
        let ring: ChallengeKeyRing = try ExchangeKit.ring([1, 2])
        let bytes = try challenge(ring)
        func reason(_ bytes: [UInt8]) -> Reason? { failure(ring, bytes) }
        for bit in 0..<(8 * bytes.count) {
            let isOfID = (1..<5).contains(bit / 8)
            #expect(reason(flipping(bit, of: bytes)) == (isOfID ? .challengeKeyUnknown : .challengeInvalid))
        }
        for count in bytes.indices { #expect(reason(Array(bytes[..<count])) == .challengeInvalid) }
        #expect(reason(bytes + [0]) == .challengeInvalid)
        #expect(reason(bytes) == nil)
    }

    private func failure(
        _ ring: ChallengeKeyRing,
        _ bytes: [UInt8],
        _ app: String = ExchangeKit.name,
        at time: EvaluationTime = Exchange.now
    ) -> Reason? { ring.open(bytes, app: app, ttl: 300_000, at: time).failure }

    @Test func `a challenge serves no other app, not even one with the same name prefix`() throws {
        let ring: ChallengeKeyRing = try ExchangeKit.ring([1])
        let bytes = try challenge(ring)
        for app in [ExchangeKit.name + "0", String(ExchangeKit.name.dropLast()), "projects/1/apps/2", ""] {
            #expect(failure(ring, bytes, app) == .challengeInvalid)
        }
    }

    @Test func `old keys of the ring still open challenges, foreign keys and other secrets of one id do not`() throws {
        let old: ChallengeKeyRing = try ExchangeKit.ring([1])
        let bytes = try challenge(old)
        #expect(failure(try ExchangeKit.ring([2, 1]), bytes) == nil)
        #expect(failure(try ExchangeKit.ring([2]), bytes) == .challengeKeyUnknown)
        #expect(failure(ChallengeKeyRing(), bytes) == .challengeKeyUnknown)
        let impostor = try ChallengeKeyRing([NamedSecret(id: "key-1", secret: Secret(ExchangeKit.secretBytes(2)))])
        #expect(failure(impostor, bytes) == .challengeInvalid)
    }

    @Test(
        arguments: [
            (0, nil), (299_999, nil), (300_000, Reason.challengeExpired), (300_001, .challengeExpired),
            (Int64.max - 1_795_000_000_000, .challengeExpired), (-1, nil), (-300_000, nil),
            (-300_001, .challengeAhead),
        ] as [(Int64, Reason?)]
    )
    func `the stream time decides whether a challenge is valid`(elapsed: Int64, reason: Reason?) throws {
        let ring: ChallengeKeyRing = try ExchangeKit.ring([1])
        let time = EvaluationTime(milliseconds: Exchange.now.milliseconds + elapsed)
        #expect(failure(ring, try challenge(ring), at: time) == reason)
    }

    @Test(arguments: [Int64.min, -1, 0, 1, 1 << 48 - 1, 1 << 48, .max])
    func `issue times beyond six bytes are clamped, and no time traps`(milliseconds: Int64) throws {
        let ring: ChallengeKeyRing = try ExchangeKit.ring([1])
        let time = EvaluationTime(milliseconds: milliseconds)
        let bytes = try challenge(ring, at: time)
        for ttl in [0, 1, Int64.max] {
            for stream in [Int64.min, 0, milliseconds, .max] {
                let result = ring.open(bytes, app: ExchangeKit.name, ttl: ttl, at: EvaluationTime(milliseconds: stream))
                if case .success(let opened) = result {
                    #expect((0..<(1 << 48)).contains(opened.issuedAt.milliseconds))
                }
            }
        }
    }

    @Test func `in replay the random bytes derive from the record's place and the key`() throws {
        let ring: ChallengeKeyRing = try ExchangeKit.ring([1, 2])
        let place = ring.keys[0].replayRandom(topic: "t", partition: 1, offset: 2)
        #expect(place.count == 16)
        #expect(place == ring.keys[0].replayRandom(topic: "t", partition: 1, offset: 2))
        let others = [
            ring.keys[0].replayRandom(topic: "u", partition: 1, offset: 2),
            ring.keys[0].replayRandom(topic: "t", partition: 2, offset: 2),
            ring.keys[0].replayRandom(topic: "t", partition: 1, offset: 3),
            ring.keys[1].replayRandom(topic: "t", partition: 1, offset: 2),
        ]
        #expect(Set(others + [place]).count == 5)
    }

    @Test func `consumption is remembered per challenge and key ID as SHA-256 of the two`() throws {
        let (first, second) = (KeyID(of: try Exchange.publicKey(1)), KeyID(of: try Exchange.publicKey(2)))
        let id = ChallengeConsumption.id(challenge: [1, 2, 3], keyID: first)
        #expect(id == SHA256.hash([1, 2, 3] + first.bytes))
        #expect(id != ChallengeConsumption.id(challenge: [1, 2, 3], keyID: second))
        #expect(id != ChallengeConsumption.id(challenge: [1, 2], keyID: first))
    }
}
