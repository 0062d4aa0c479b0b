import AppAttest
import AppCheck
import Crypto
import DeviceLab
import JSON
import Pipeline
import SimulationKit
import Streams
import TestKit
import Testing

/// verifyAppCheckToken: limited-use tokens are used up, once.
@Suite struct TokenUseTests {
    private struct Bench {
        let rig: ExchangeRig
        var device = FakeDevice(ExchangeKit.model, seed: 3)
        let artifact: [UInt8]

        init(_ settings: PipelineSettings? = nil) throws {
            rig = try ExchangeRig(settings ?? ExchangeKit.settings())
            artifact = try rig.register(device)
        }

        mutating func token(limitedUse: Bool = true) throws -> String {
            try #require(rig.refresh(&device, artifact, limitedUse: limitedUse).tokenText)
        }
    }

    private static func consumed(_ answers: ExchangeAnswers) -> Bool? {
        guard answers.verdict == "accepted", let response = answers.result?["response"] else { return nil }
        return response["alreadyConsumed"]?.bool ?? false
    }

    @Test(arguments: ["projects/contract-test-1", "projects/123456789012"])
    func `the first use is answered {}, a later one alreadyConsumed, the first again {}`(project: String) throws {
        var bench = try Bench()
        let token = try bench.token()
        let first = ExchangeRequest.verification(of: token, project: project).with(id: "v1")
        let answers = try bench.rig.send(first)
        #expect(Self.consumed(answers) == false && !answers.isDuplicate)
        #expect(answers.answer == nil && answers.event == nil)
        #expect(answers.result?["keyId"]?.kind == .null)
        let second = ExchangeRequest.verification(of: token).with(id: "v2")
        #expect(try Self.consumed(bench.rig.send(second)) == true)
        let writes = bench.rig.streams.ledger.count
        let again = try bench.rig.send(first)
        #expect(Self.consumed(again) == false && again.isDuplicate)
        #expect(try Self.consumed(bench.rig.send(second)) == true)
        #expect(bench.rig.streams.ledger.count == writes)
        // The next worker remembers too.
        try bench.rig.restart()
        #expect(try Self.consumed(bench.rig.send(first)) == false)
        #expect(try Self.consumed(bench.rig.send(second)) == true)
    }

    @Test func `within one batch only one of many uses gets {}`() throws {
        var bench = try Bench()
        let token = try bench.token()
        let requests = (0..<5).map { ExchangeRequest.verification(of: token).with(id: "v\($0)") }
        #expect(try bench.rig.send(requests).map(Self.consumed) == [false, true, true, true, true])
    }

    @Test(arguments: ["expired", "project", "signature", "foreign key", "retired key"])
    func `a token that does not verify is invalid, used or not`(fault: String) throws {
        var bench = try Bench()
        let rig = bench.rig
        var token = try bench.token()
        var request = ExchangeRequest.verification(of: token)
        switch fault {
        case "expired": rig.time += 300_000
        case "project":
            request = .verification(of: token, project: "projects/\(ExchangeKit.otherProject)")
        case "signature":
            let last = token.removeLast()
            request = .verification(of: token + (last == "A" ? "Q" : "A"))
        case "foreign key":
            // The same kid, another key.
            let keys = try ExchangeKit.keys(tokens: [ExchangeKit.rs256(key: ExchangeKit.otherRSA)])
            #expect(try rig.replace(ExchangeKit.settings(keys: keys)) == nil)
        default:
            let keys = try ExchangeKit.keys(tokens: [ExchangeKit.rs256("N3w_Kd", key: ExchangeKit.otherRSA)])
            #expect(try rig.replace(ExchangeKit.settings(keys: keys)) == nil)
        }
        let writes = rig.streams.ledger.count
        let answers = try rig.send(request)
        #expect(answers.reason == "token-invalid" && answers.code == 403)
        #expect(rig.streams.ledger[writes...].allSatisfy { $0.key.first != LedgerTypes.token || $0.value == nil })
    }

    @Test func `an expired used token is invalid, for its own request too`() throws {
        var bench = try Bench()
        let token = try bench.token()
        let first = ExchangeRequest.verification(of: token).with(id: "v1")
        #expect(try Self.consumed(bench.rig.send(first)) == false)
        bench.rig.time += 300_000
        // In one batch: the use is still in the ledger, and expires after it. The answer must be the same.
        let answers = try bench.rig.send([first, .verification(of: token).with(id: "v2")])
        for answer in answers { #expect(answer.reason == "token-invalid") }
        #expect(answers[0].result?["evidence"]?["tokenFault"]?.string == "expired")
    }

    @Test func `a token whose use was forgotten stays invalid, however old a record's time is`() throws {
        var bench = try Bench()
        let token = try bench.token()
        #expect(try Self.consumed(bench.rig.send(.verification(of: token).with(id: "v1"))) == false)
        let early = bench.rig.time
        bench.rig.time += 400_000
        _ = try bench.rig.challenge()
        #expect(bench.rig.loop.ledgers[0]?.tokens.count == 0)
        let late = ExchangeRequest.verification(of: token).with(id: "v2").at(early + 1000)
        let answers = try bench.rig.send(late)
        #expect(answers.reason == "token-invalid")
        // Genuine and not expired by its own record's time: Admit found it behind the stream time.
        #expect(answers.result?["evidence"]?["tokenFault"]?.string == "expired")
        try bench.rig.restart()
        #expect(try bench.rig.send(late.with(id: "v3")).reason == "token-invalid")
    }

    @Test func `the record key is the jti that the token claims`() throws {
        var bench = try Bench()
        let token = try bench.token()
        let keys: [[UInt8]] = [Array("other".utf8), [], Array(try #require(ExchangeToken(token)).id.utf8.dropLast())]
        for key in keys {
            let answers = try bench.rig.send(.verification(of: token, key: key))
            #expect(answers.reason == "key-mismatch" && answers.code == 503)
        }
        var keyless = ExchangeRequest.verification(of: token)
        keyless.key = nil
        #expect(try bench.rig.send(keyless).reason == "key-mismatch")
        #expect(try Self.consumed(bench.rig.send(.verification(of: token))) == false)
    }

    @Test func `a token of a key that is only published is still valid`() throws {
        var bench = try Bench()
        let token = try bench.token()
        let keys = try ExchangeKit.keys(tokens: [
            ExchangeKit.rs256("N3w_Kd", key: ExchangeKit.otherRSA), ExchangeKit.rs256(state: .published),
        ])
        #expect(try bench.rig.replace(ExchangeKit.settings(keys: keys)) == nil)
        #expect(try Self.consumed(bench.rig.send(.verification(of: token))) == false)
    }

    @Test func `an OAuth client's token belongs to its project, and limited use applies to it too`() throws {
        let rig = try ExchangeRig(ExchangeKit.settings())
        var device = FakeDevice(ExchangeKit.model, seed: 3)
        let resource = "oauthClients/\(ExchangeKit.client)"
        let artifact = try rig.register(device, resource: resource)
        let answers = try rig.refresh(&device, artifact, limitedUse: true, resource: resource)
        let token = try #require(answers.tokenText)
        #expect(try Self.consumed(rig.send(.verification(of: token))) == false)
        #expect(try Self.consumed(rig.send(.verification(of: token))) == true)
    }
}

/// The type bytes that ledger keys begin with.
enum LedgerTypes {
    static let challenge = type(.challengeForgotten(SHA256.hash([])))
    static let token = type(.tokenForgotten(SHA256.hash([])))
    static let streamTime = type(.mark(PartitionMark()))
    static let rate = type(.rate(app: "", RateCount(start: EvaluationTime(milliseconds: 0), count: 0)))
    static let sealingKey = type(.sealingKeyForgotten(0))

    private static func type(_ change: LedgerChange) -> UInt8? { LedgerCodec.encode(change).key.first }
}
