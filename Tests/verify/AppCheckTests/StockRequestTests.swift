import AppAttest
import AppCheck
import DeviceLab
import JSON
import Testing

/// The decoder reads what the stock SDK sends; they share no code.
@Suite struct StockRequestTests {
    private static let time = EvaluationTime(milliseconds: 1_791_806_400_000)
    private static let model = DeviceModel(ca: LabCA(seed: 1), appID: "ABCDE12345.com.example.app")

    private static func resource(_ isClient: Bool) -> String {
        isClient
            ? StockClient.resource(oauthClientID: Samples.oauthClient)
            : StockClient.resource(projectID: "contract-test-1", appID: Samples.appID)
    }

    @Test(arguments: [false, true])
    func `every call of the SDK is a request with the record key that the gateway sets`(_ isClient: Bool) throws {
        let decoder = try Samples.decoder()
        let challenge = Array(repeating: UInt8(0xFF), count: 32)
        for seed in 0..<10 as Range<UInt64> {
            var client = StockClient(Self.model, resource: Self.resource(isClient), seed: seed)
            var verbs: [Verb] = []
            for isLimitedUse in [false, true] {
                var reply = client.want(limitedUse: isLimitedUse, at: Self.time)
                while let call = reply.call {
                    let request = try #require(decoder.decode(call.value).request)
                    verbs.append(request.verb)
                    #expect(request.path.shown == call.path && request.app == 1 && !request.isBeta)
                    #expect(request.keyID == call.keyID && request.requiredRecordKey == call.keyID?.recordKey)
                    check(request.body, challenge, isLimitedUse)
                    let body = answer(request.body, challenge, keyID: client.keyID)
                    reply = client.answer(status: 200, body: Array(body.utf8), at: Self.time)
                }
                #expect(reply.outcomes.count == 1)
            }
            #expect(
                verbs == [
                    .generateAppAttestChallenge, .exchangeAppAttestAttestation, .generateAppAttestChallenge,
                    .exchangeAppAttestAssertion,
                ]
            )
        }
    }

    private func check(_ body: Request.Body, _ challenge: [UInt8], _ isLimitedUse: Bool) {
        guard case .object(_, let binding) = body else {
            #expect(body == .generateChallenge)
            return
        }
        guard case .exchange(let exchange) = binding else {
            Issue.record("no exchange")
            return
        }
        #expect(exchange.challenge == challenge && exchange.limitedUse == isLimitedUse)
    }

    private func answer(_ body: Request.Body, _ challenge: [UInt8], keyID: KeyID?) -> String {
        let token = "{\"token\":\"a.b.c\",\"ttl\":\"3600s\"}"
        switch body {
        case .generateChallenge: return "{\"challenge\":\"\(Samples.text(challenge))\",\"ttl\":\"300s\"}"
        case .object(.attestation, .exchange):
            let artifact = [1] + (keyID?.bytes ?? []) + [UInt8](repeating: 9, count: 40)
            return "{\"artifact\":\"\(Samples.text(artifact))\",\"appCheckToken\":\(token)}"
        default: return token
        }
    }
}
