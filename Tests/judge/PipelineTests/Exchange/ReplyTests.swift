import AppCheck
import DeviceLab
import JSON
import Pipeline
import SimulationKit
import Streams
import TestKit
import Testing

/// What a gateway that names a partition of the replies topic gets there.
@Suite struct ReplyTests {
    private static let partitions: Int32 = 3

    private static func fresh(
        _ partitions: Int32? = Self.partitions
    ) throws -> (rig: ExchangeRig, device: FakeDevice) {
        var settings = try ExchangeKit.settings()
        settings.replyPartitions = partitions
        return try ExchangeRig.fresh(settings)
    }

    private static func asking(_ request: ExchangeRequest, _ partition: String = "2") -> ExchangeRequest {
        request.with(headers: [RecordHeader("reply-to", partition), RecordHeader("tracestate", "a=b")])
    }

    private static func reply(_ answers: ExchangeAnswers) throws -> OutboundRecord {
        let replies = answers.replies
        #expect(replies.count == 1)
        let reply = try #require(replies.first)
        let result = try #require(answers.outputs.first { $0.stream == .results })
        #expect(reply.partition == 2 && reply.key == result.key)
        #expect(reply.headers.prefix(3) == result.headers[...] && result.headers.count == 3)
        // Only what a gateway may contradict has its reason.
        let reason = answers.reason.map { RecordHeader("reason", $0) }
        #expect(Array(reply.headers.dropFirst(3)) == (answers.code == 403 ? [reason] : []))
        return reply
    }

    private static func text(_ reply: OutboundRecord) -> String { String(decoding: reply.value ?? [], as: UTF8.self) }

    @Test func `a reply to an exchange is the answer of the tokens topic, a duplicate's too`() throws {
        var (rig, device) = try Self.fresh()
        let challenged = try rig.send(Self.asking(.challenge()))
        #expect(try Self.text(Self.reply(challenged)) == challenged.text(.tokens))
        let challenge = try #require(challenged.challenge)
        let attested = try rig.send(Self.asking(.attestation(of: device, challenge: challenge)))
        #expect(try Self.text(Self.reply(attested)) == attested.text(.tokens))
        let artifact = try #require(attested.artifact)
        let assertion = Self.asking(try rig.assertion(of: &device, artifact).with(id: "once"))
        for isDuplicate in [false, true] {
            let answers = try rig.send(assertion)
            #expect(answers.verdict == "accepted" && answers.isDuplicate == isDuplicate)
            #expect(try Self.text(Self.reply(answers)) == answers.text(.tokens))
        }
    }

    @Test func `a reply to a token's verification is its response`() throws {
        let (rig, device) = try Self.fresh()
        let request = try rig.attestation(of: device, limitedUse: true)
        let token = try #require(rig.send(request).tokenText)
        let bodies = try ["{}", #"{"alreadyConsumed":true}"#].map { expected in
            let body = try Self.text(Self.reply(rig.send(Self.asking(.verification(of: token)))))
            #expect(body == expected)
            return body
        }
        #expect(Set(bodies).count == 2)
    }

    @Test func `a reply to a refused request is Google's error, with the result's status`() throws {
        let rig = try Self.fresh().rig
        let path = "v1/\(ExchangeKit.resource):exchangeAppAttestAttestation"
        let shapeless = ExchangeRequest.value(path, body: Array("{}".utf8))
        let answers = try rig.send(Self.asking(ExchangeRequest(shapeless)))
        let reply = try Self.reply(answers)
        #expect(
            Self.text(reply)
                == #"{"error":{"code":400,"message":"Request contains an invalid argument.","status":"INVALID_ARGUMENT"}}"#
        )
        #expect(reply.status == 400 && answers.code == 400)
        var keyless = try ExchangeKit.settings(keys: ExchangeKit.keys(challenges: []))
        keyless.replyPartitions = Self.partitions
        #expect(try rig.replace(keyless) == nil)
        let deferred = try Self.reply(rig.send(Self.asking(.challenge())))
        #expect(Self.text(deferred).contains(#""status":"UNAVAILABLE""#) && deferred.status == 503)
    }

    @Test func `a reply to a backend's own verb has the reason, and an exchange's has none`() throws {
        let (rig, device) = try Self.fresh()
        let told = try rig.send(Self.asking(.verifyAssertion(of: device, counter: 1)))
        let reason = try #require(told.reason)
        #expect(reason == "unknown-key")
        let head = #"{"error":{"code":403,"message":"App attestation failed.","status":"PERMISSION_DENIED""#
        #expect(try Self.text(Self.reply(told)) == head + #","reason":"unknown-key"}}"#)
        let forged = ExchangeRequest.attestation(of: device, challenge: [UInt8](repeating: 7, count: 59))
        #expect(try Self.text(Self.reply(rig.send(Self.asking(forged)))) == head + "}}")
    }

    @Test(arguments: ["0", "2", "3", "-1", "x", "", "2147483648"])
    func `a reply-to outside the topic is ignored and counted, and the request answered`(partition: String) throws {
        let rig = try Self.fresh().rig
        let answers = try rig.send(Self.asking(.challenge(), partition))
        let isFine = ["0", "2"].contains(partition)
        #expect(answers.verdict == "accepted" && answers.replies.map(\.partition) == (isFine ? [Int32(partition)] : []))
        #expect(Self.ignored(rig) == (isFine ? 0 : 1))
    }

    @Test(arguments: [(0, 1), (nil, 0)] as [(Int32?, Int)])
    func `without a topic nothing is replied, which a worker counts and a replay does not`(
        partitions: Int32?,
        ignored: Int
    ) throws {
        let rig = try Self.fresh(partitions).rig
        let answers = try rig.send(Self.asking(.challenge(), "0"))
        #expect(answers.verdict == "accepted" && answers.replies == [] && Self.ignored(rig) == ignored)
    }

    @Test func `a dead letter gets no reply, and a request that does not ask none either`() throws {
        let rig = try Self.fresh().rig
        let letter = try rig.send(Self.asking(ExchangeRequest(Array("junk".utf8))))
        #expect(letter.outputs.map(\.stream) == [.deadLetters])
        #expect(try rig.send(ExchangeRequest.challenge()).replies == [] && Self.ignored(rig) == 0)
    }

    private static func ignored(_ rig: ExchangeRig) -> Int {
        rig.loop.tally.answers.counts[AnswerCounts.Key(app: -1, verb: nil, event: .replyIgnored)] ?? 0
    }
}
