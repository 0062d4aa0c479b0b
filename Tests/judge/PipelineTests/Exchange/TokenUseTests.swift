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
    @Test(arguments: ["projects/contract-test-1", "projects/123456789012"])
    func `the first use is answered {}, a later one alreadyConsumed, the first again {}`(project: String) throws {
        var bench = try TokenBench()
        let token = try bench.token(limitedUse: true)
        let first = ExchangeRequest.verification(of: token, project: project).with(id: "v1")
        let answers = try bench.rig.send(first)
        #expect(answers.isConsumed == false && !answers.isDuplicate)
        #expect(answers.answer == nil && answers.event == nil)
        #expect(answers.result?["keyId"]?.kind == .null)
        let second = ExchangeRequest.verification(of: token).with(id: "v2")
        #expect(try bench.rig.send(second).isConsumed == true)
        let writes = bench.rig.streams.ledger.count
        let again = try bench.rig.send(first)
        #expect(again.isConsumed == false && again.isDuplicate)
        #expect(try bench.rig.send(second).isConsumed == true)
        #expect(bench.rig.streams.ledger.count == writes)
        // The next worker remembers too.
        try bench.rig.restart()
        #expect(try bench.rig.send(first).isConsumed == false)
        #expect(try bench.rig.send(second).isConsumed == true)
    }

    @Test func `within one batch only one of many uses gets {}`() throws {
        var bench = try TokenBench()
        let token = try bench.token(limitedUse: true)
        let requests = (0..<5).map { ExchangeRequest.verification(of: token).with(id: "v\($0)") }
        #expect(try bench.rig.send(requests).map(\.isConsumed) == [false, true, true, true, true])
    }

    @Test func `an expired used token is invalid, for its own request too`() throws {
        var bench = try TokenBench()
        let token = try bench.token(limitedUse: true)
        let first = ExchangeRequest.verification(of: token).with(id: "v1")
        #expect(try bench.rig.send(first).isConsumed == false)
        bench.rig.time += 300_000
        // In one batch: the use is still in the ledger, and expires after it. The answer must be the same.
        let answers = try bench.rig.send([first, .verification(of: token).with(id: "v2")])
        for answer in answers { #expect(answer.reason == "token-invalid") }
        #expect(answers[0].result?["evidence"]?["tokenFault"]?.string == "expired")
    }

    @Test func `a token whose use was forgotten stays invalid, however old a record's time is`() throws {
        var bench = try TokenBench()
        let token = try bench.token(limitedUse: true)
        #expect(try bench.rig.send(.verification(of: token).with(id: "v1")).isConsumed == false)
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
        var bench = try TokenBench()
        let token = try bench.token(limitedUse: true)
        let keys: [[UInt8]] = [Array("other".utf8), [], Array(try #require(ExchangeToken(token)).id.utf8.dropLast())]
        for key in keys {
            let answers = try bench.rig.send(.verification(of: token, key: key))
            #expect(answers.reason == "key-mismatch" && answers.code == 503)
        }
        var keyless = ExchangeRequest.verification(of: token)
        keyless.key = nil
        #expect(try bench.rig.send(keyless).reason == "key-mismatch")
        #expect(try bench.rig.send(.verification(of: token)).isConsumed == false)
    }
}

/// A rig, and a device that is registered in it and gets tokens.
struct TokenBench {
    let rig: ExchangeRig
    private var device = FakeDevice(ExchangeKit.model, seed: 3)
    private let artifact: [UInt8]

    /// - Parameter limit: how many used session tokens are remembered.
    init(limit: Int? = nil, adjust: (inout RegisteredApp) -> Void = { _ in }) throws {
        var settings = try ExchangeKit.settings(adjust: adjust)
        if let limit { settings.limits.sessionTokens = limit }
        rig = try ExchangeRig(settings)
        artifact = try rig.register(device)
    }

    mutating func token(limitedUse: Bool = false) throws -> String {
        try #require(rig.refresh(&device, artifact, limitedUse: limitedUse).tokenText)
    }
}

extension ExchangeAnswers {
    /// Whether verifyAppCheckToken has answered that the token was used before; nil = it refused.
    var isConsumed: Bool? {
        guard verdict == "accepted", let response = result?["response"] else { return nil }
        return response["alreadyConsumed"]?.bool ?? false
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
