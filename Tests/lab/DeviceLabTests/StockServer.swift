import AppAttest
import Crypto
import DeviceLab
import JSON
import Testing

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

    /// The answer that a call hopes for.
    static func success(_ call: StockCall, token: String = "a.b.c") -> [UInt8] {
        let answer = #"{"token":"\#(token)","ttl":"3600s"}"#
        return switch call.kind {
        case .challengeForAttestation, .challengeForAssertion: challengeAnswer
        case .attestation: Array(#"{"artifact":"\#(text(artifact))","appCheckToken":\#(answer)}"#.utf8)
        case .assertion: Array(answer.utf8)
        }
    }

    /// Answers calls with success until none is left. - Returns: the calls, and all outcomes.
    static func serve(
        _ client: inout StockClient,
        _ first: StockReply,
        at time: EvaluationTime,
        token: String = "a.b.c"
    ) -> (calls: [StockCall], outcomes: [StockOutcome]) {
        var calls: [StockCall] = []
        var reply = first
        var outcomes = first.outcomes
        while let call = reply.call {
            calls.append(call)
            reply = client.answer(status: 200, body: success(call, token: token), at: time)
            outcomes += reply.outcomes
        }
        return (calls, outcomes)
    }

    /// Asks for a token, and answers the calls with success.
    @discardableResult
    static func fetch(
        _ client: inout StockClient,
        limitedUse: Bool,
        at time: EvaluationTime = Lab.noon,
        token: String = "a.b.c"
    ) -> (calls: [StockCall], outcomes: [StockOutcome]) {
        let first = client.want(limitedUse: limitedUse, at: time)
        return serve(&client, first, at: time, token: token)
    }

    /// A client whose key is registered; its session token has expired.
    static func registered() -> StockClient {
        var client = client()
        fetch(&client, limitedUse: true)
        return client
    }

    /// The verdict on the attestation in a call.
    static func verdict(_ call: StockCall, of client: StockClient) throws -> Result<AttestationEvidence, Refusal> {
        try Lab.verifier().prepareAttestation(
            try #require(body(call)?["attestation_statement"]?.base64Bytes),
            clientDataHash: SHA256.hash(challenge).bytes,
            keyID: try #require(client.keyID),
            expectations: Expectations(appIDs: [AppID(Lab.appID)]),
            at: Lab.noon
        ).verified(by: OpenSSLEngine())
    }

    /// The members of a call's body.
    static func body(_ call: StockCall) -> JSONNode? {
        call.body.flatMap { try? JSONDocument(parsing: $0).root }
    }
}

extension StockOutcome {
    var newToken: StockToken? { if case .token(let token) = self { token } else { nil } }
    var cachedToken: StockToken? { if case .cached(let token) = self { token } else { nil } }
}

extension StockReply {
    var isUnreadable: Bool { if case .unreadable(let why) = outcomes.first { !why.isEmpty } else { false } }
}

func + (time: EvaluationTime, milliseconds: Int64) -> EvaluationTime {
    EvaluationTime(milliseconds: time.milliseconds + milliseconds)
}
