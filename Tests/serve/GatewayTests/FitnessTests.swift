import AppAttest
import AppCheck
import DeviceLab
import Gateway
import HTTP
import JSON
import Kafka
internal import KafkaPorts
import Pipeline
import Settings
internal import Streams
import TestKit
import Testing
internal import Threads

@Suite("A gateway that is not fit")
struct FitnessTests {
    private static let challenge = "/v1/\(ExchangeKit.resource):generateAppAttestChallenge"

    private static let verify = "/v1/verify?project=\(ExchangeKit.projectNumber)"

    /// The status of a challenge, an exchange, a local verification and one that uses the token up; nil = it waits.
    private func statuses(_ rig: GatewayRig, seed: UInt64 = 1) throws -> [Int?] {
        let token = [("x-firebase-appcheck", try Tokens.limitedUse())]
        let replies = [
            rig.call("POST", Self.challenge), try rig.send(.attestation(seed)), rig.call("GET", Self.verify, token),
            rig.call("GET", Self.verify + "&consume=1", token + GatewayRig.bearer),
        ]
        for reply in replies.map(\.reply) where reply?.status == 503 { #expect(reply?.value(of: "Retry-After") == "1") }
        return replies.map { $0.reply?.status }
    }

    @Test func `a fit one takes every call`() throws {
        let rig = try GatewayRig()
        #expect(rig.gateway.unfitness == nil)
        #expect(try statuses(rig) == [200, nil, 200, nil])
    }

    @Test(arguments: [true, false])
    func `without brokers, at the start and at the end, only what needs no topic is answered`(isStarting: Bool) throws {
        let rig = try GatewayRig(isOpen: !isStarting)
        if !isStarting { rig.gateway.note(hindrance: "no broker answers") }
        #expect(try statuses(rig) == [503, 503, 200, 503])
        #expect(rig.requests.isEmpty)
        #expect(rig.call("GET", "/healthz").reply?.status == 200)
        #expect(rig.call("GET", "/v1/jwks").reply?.status == 200)
        #expect(rig.gateway.counts.rejections[.notReady] == 3)
        guard !isStarting else { return }
        #expect(rig.gateway.unfitness == "no broker answers")
        rig.gateway.note(hindrance: nil)
        #expect(try statuses(rig) == [200, nil, 200, nil])
    }

    @Test func `what no key of an app may ask for is refused first, as ever`() throws {
        let rig = try GatewayRig(app: { $0.apiKeys = ["k"] }, isOpen: false)
        #expect(rig.call("POST", Self.challenge).reply?.status == 401)
        #expect(rig.call("POST", "/v1/projects/lab:exchangeAppAttestAttestation").reply?.status == 404)
    }

    @Test func `without any app it is not ready, says so, and no call gets more than 503`() throws {
        let rig = try GatewayRig()
        rig.gateway.replace(try GatewayRig.rules(Registry(), challenges: [2]))
        #expect(rig.gateway.unfitness?.hasPrefix("apps.json lists no app: ") == true)
        #expect(try statuses(rig) == [503, 503, 503, 503])
        let target = "/v1beta/projects/\(ExchangeKit.projectNumber):verifyAppCheckToken"
        let body = Array(#"{"app_check_token":"a.b.c"}"#.utf8)
        #expect(rig.call("POST", target, GatewayRig.bearer, body: body).reply?.status == 503)
        rig.gateway.replace(try GatewayRig.rules(challenges: [2]))
        #expect(try rig.gateway.unfitness == nil && statuses(rig) == [200, nil, 200, nil])
    }

    @Test func `where nobody writes replies it takes no calls after three, and measures again after a minute`() throws {
        let rig = try GatewayRig(replyTo: 3)
        for seed: UInt64 in 1...3 {
            #expect(rig.gateway.unfitness == nil)
            try rig.leaveUnanswered(seed)
        }
        #expect(rig.gateway.unfitness?.contains("replies") == true)
        #expect(try statuses(rig, seed: 4) == [503, 503, 200, 503])
        rig.pass(milliseconds: 60_000)
        rig.gateway.poll()
        #expect(rig.gateway.unfitness == nil)
        try rig.leaveUnanswered(5)
        #expect(rig.gateway.unfitness != nil, "one call was enough")
        // A worker's answer to any caller ends the doubt at once.
        rig.gateway.note(replies: [rig.record(of: try #require(rig.requests.first), Array("{}".utf8), status: 403)])
        rig.gateway.poll()
        #expect(try rig.gateway.unfitness == nil && statuses(rig, seed: 6) == [200, nil, 200, nil])
    }

    @Test func `without a topic of its own it stays ready: its workers may be slow`() throws {
        let rig = try GatewayRig()
        for seed: UInt64 in 1...9 { try rig.leaveUnanswered(seed) }
        #expect(rig.gateway.counts.unanswered == 9 && rig.gateway.unfitness == nil)
    }

    @Test func `without a challenge key it makes no challenge and says so, and judges what others made`() throws {
        let rig = try GatewayRig()
        rig.gateway.replace(try GatewayRig.rules(challenges: []))
        #expect(rig.gateway.unfitness?.contains("no challenge key") == true)
        #expect(try statuses(rig) == [503, nil, 200, nil])
    }

    // MARK: The clock

    @Test(arguments: [600_000, -600_000, 61_000, -61_000, 60_000, -60_000, 0])
    func `the broker's own time of one request is enough: a minute off, and nothing that needs the clock is answered`(
        ahead: Int64
    ) throws {
        let rig = try GatewayRig()
        rig.set(ahead: ahead)
        try rig.send(.attestation())
        try rig.acknowledge(at: rig.now)
        #expect(rig.gateway.counts.clockOffset == -ahead)
        guard abs(ahead) > 60_000 else {
            #expect(rig.gateway.unfitness == nil)
            let token = try Tokens.token(Tokens.claims(limitedUse: true, at: rig.now))
            #expect(rig.call("GET", Self.verify, [("x-firebase-appcheck", token)]).reply?.status == 200)
            return
        }
        #expect(rig.gateway.unfitness?.hasPrefix("this machine's clock is \(abs(ahead) / 1_000) s ") == true)
        #expect(try statuses(rig, seed: 2) == [503, 503, 503, 503])
        #expect(rig.requests.count == 1)
    }

    @Test(arguments: [-1, 0, 1234, 999_999_999_999])
    func `a time that no broker can have says nothing`(timestamp: Int64) throws {
        let rig = try GatewayRig()
        try rig.send(.attestation())
        try rig.acknowledge(at: timestamp)
        #expect(rig.gateway.unfitness == nil)
    }

    @Test func `a clock that is set while it runs is noticed at once, both ways`() throws {
        let rig = try GatewayRig()
        try rig.send(.attestation())
        try rig.acknowledge(at: rig.now, broker: 1)
        #expect(rig.gateway.unfitness == nil)
        rig.set(ahead: 120_000)
        #expect(
            rig.gateway.unfitness == "this machine's clock is 120 s ahead of the brokers: set it right (it says "
                + "2026-11-18T11:08:40.250Z, broker 1 says 2026-11-18T11:06:40.250Z)"
        )
        rig.pass(milliseconds: 3_500_000)
        #expect(rig.gateway.unfitness?.hasPrefix("this machine's clock is 120 s ahead of the brokers: ") == true)
        rig.set(ahead: -120_000)
        #expect(rig.gateway.unfitness?.hasPrefix("this machine's clock is 120 s behind the brokers: ") == true)
        rig.set(ahead: 5_000)
        #expect(rig.gateway.unfitness == nil)
    }

    private static let refusal = Status(code: 403, status: "PERMISSION_DENIED", message: "App attestation failed.")

    @Test(
        arguments: [
            // Old by this clock too, or refused for another reason: the device is to blame.
            ("challenge-expired", 1_000, 503), ("challenge-expired", 299_000, 503), ("challenge-expired", 300_000, 403),
            ("challenge-consumed", 1_000, 403), ("nonce-mismatch", 1_000, 403), (nil, 1_000, 403),
        ] as [(String?, Int64, Int)],
        [true, false]
    )
    func `a challenge that a worker calls expired, and that is young by this clock, costs no device its key`(
        item: (reason: String?, age: Int64, status: Int),
        hasReplies: Bool
    ) throws {
        let rig = try GatewayRig()
        let key = try #require(try ExchangeKit.keys().challenges.active)
        let issuedAt = EvaluationTime(milliseconds: rig.now - item.age)
        let challenge = key.seal(app: ExchangeKit.name, issuedAt: issuedAt, random: [UInt8](repeating: 1, count: 16))
        let responder = try rig.send(.attestation(of: FakeDevice(ExchangeKit.model, seed: 1), challenge: challenge))
        var record = rig.result(
            of: try #require(rig.requests.last),
            Self.refusal,
            reason: hasReplies ? nil : item.reason
        )
        if hasReplies {
            if let reason = item.reason {
                record.headers?.append(RecordHeader(name: Array("reason".utf8), value: Array(reason.utf8)))
            }
            rig.gateway.note(replies: [record])
        } else {
            rig.gateway.note(results: [record])
        }
        #expect(responder.reply?.status == item.status)
    }

    @Test(arguments: [(30_000, 7_400, true), (30_000, 7_600, false), (60_000, 14_000, true), (60_000, -16_000, false)])
    func `where challenges live shortly, a gateway whose clock is off by a quarter of that makes none`(
        ttl: Int64,
        ahead: Int64,
        isFit: Bool
    ) throws {
        let rig = try GatewayRig()
        rig.gateway.replace(try GatewayRig.rules(challenges: [2], ttl: ttl))
        rig.set(ahead: ahead)
        try rig.send(.attestation())
        try rig.acknowledge(at: rig.now, broker: 1)
        #expect((rig.gateway.unfitness == nil) == isFit)
        let statuses = try statuses(rig, seed: 2)
        #expect(statuses == [isFit ? 200 : 503, nil, 200, nil], "others need less of the clock")
    }

    @Test(arguments: [400_000, -400_000, 0])
    func `calls that measure a clock again get challenges that do not begin too early`(ahead: Int64) throws {
        let rig = try GatewayRig()
        rig.set(ahead: ahead)
        try rig.send(.attestation())
        try rig.acknowledge(at: rig.now)
        rig.gateway.poll()
        rig.pass(milliseconds: 60_000)
        rig.gateway.poll()
        #expect(rig.gateway.unfitness == nil)
        let body = try #require(rig.call("POST", Self.challenge).reply).body
        let text = try #require(JSONDocument(parsing: body).root["challenge"]?.string)
        let challenge = try #require(Base64.decode(Array(text.utf8)))
        #expect(UnverifiedChallenge(challenge)?.issuedAt.milliseconds == rig.now + max(0, ahead))
    }

    // MARK: What is not acknowledged

    @Test func `where no broker acknowledges, challenges and requests get 503 after two seconds, until one does`()
        throws
    {
        let rig = try GatewayRig()
        try rig.send(.attestation())
        rig.pass(milliseconds: 2_001)
        rig.gateway.poll()
        #expect(rig.gateway.unfitness?.contains("no broker has acknowledged a request for 2 s") == true)
        #expect(try statuses(rig, seed: 2) == [503, 503, 200, 503])
        #expect(rig.requests.count == 1)
        try rig.acknowledge()
        #expect(rig.gateway.unfitness == nil)
        #expect(try statuses(rig, seed: 3) == [200, nil, 200, nil])
    }
}

extension GatewayRig {
    /// The brokers' time.
    var now: Int64 { clock.withLock { $0 } }

    /// Sets the gateway's own clock.
    func set(ahead milliseconds: Int64) { ahead.withLock { $0 = milliseconds } }

    /// A call whose request is written, and which waits until its time is over.
    func leaveUnanswered(_ seed: UInt64) throws {
        try send(.attestation(seed))
        try acknowledge()
        pass(milliseconds: 30_000)
        gateway.poll()
    }
}
