import AppAttest
import Crypto
import DeviceLab
import JSON

/// Shared by the stock client's tests: a client, its fake worker's answers, and the content of its calls.
enum StockServer {
    static let appID = "1:123456789012:ios:0123456789abcdef"
    static let resource = StockClient.resource(projectID: "contract-test-1", appID: appID)
    static let model = DeviceModel(ca: Lab.ca, appID: Lab.appID)
    /// Base64 with both signs of its own, so that `/` is escaped somewhere.
    static let challenge: [UInt8] = (0..<32).map { [0xFF, 0xFB, $0][Int($0) % 3] }
    static let artifact: [UInt8] = [1] + [UInt8](repeating: 0xFF, count: 80)

    static func client(seed: UInt64 = 5) -> StockClient { StockClient(model, resource: resource, seed: seed) }

    static func text(_ bytes: [UInt8]) -> String { String(decoding: Base64.encode(bytes), as: UTF8.self) }

    static let challengeAnswer = Array("{\"challenge\":\"\(text(challenge))\",\"ttl\":\"300s\"}".utf8)

    static func tokenAnswer(_ token: String = "a.b.c", ttl: String = "3600s") -> [UInt8] {
        Array("{\"token\":\"\(token)\",\"ttl\":\"\(ttl)\"}".utf8)
    }

    static func attestationAnswer(_ token: String = "a.b.c", artifact: [UInt8] = artifact) -> [UInt8] {
        Array("{\"artifact\":\"\(text(artifact))\",\"appCheckToken\":".utf8) + tokenAnswer(token) + Array("}".utf8)
    }

    /// The answer that a call hopes for.
    static func success(_ call: StockCall, token: String = "a.b.c", ttl: String = "3600s") -> [UInt8] {
        switch call.kind {
        case .challengeForAttestation, .challengeForAssertion: challengeAnswer
        case .attestation: attestationAnswer(token)
        case .assertion: tokenAnswer(token, ttl: ttl)
        }
    }

    /// Answers calls with success until none is left. - Returns: the calls, and all outcomes.
    static func serve(
        _ client: inout StockClient,
        _ first: StockReply,
        at time: EvaluationTime,
        token: String = "a.b.c",
        ttl: String = "3600s"
    ) -> (calls: [StockCall], outcomes: [StockOutcome]) {
        var calls: [StockCall] = []
        var reply = first
        var outcomes = first.outcomes
        while let call = reply.call {
            calls.append(call)
            reply = client.answer(status: 200, body: success(call, token: token, ttl: ttl), at: time)
            outcomes += reply.outcomes
        }
        return (calls, outcomes)
    }

    /// A client whose key is registered; its session token has expired.
    static func registered() -> StockClient {
        var client = client()
        _ = serve(&client, client.want(limitedUse: true, at: Lab.noon), at: Lab.noon)
        return client
    }

    /// The members of a call's body.
    static func body(_ call: StockCall) -> JSONNode? {
        call.body.flatMap { try? JSONDocument(parsing: $0).root }
    }
}

func + (time: EvaluationTime, milliseconds: Int64) -> EvaluationTime {
    EvaluationTime(milliseconds: time.milliseconds + milliseconds)
}
