import AppAttest
import Crypto
import DeviceLab
import JSON
import TestKit
import Testing

@Suite struct StockClientTests {
    private static let path = "/v1/projects/contract-test-1/apps/1:123456789012:ios:0123456789abcdef:"

    @Test func `a new installation goes challenge, attestation, token; then challenge, assertion, token`() throws {
        var client = StockServer.client()
        let first = StockServer.fetch(&client, limitedUse: false, token: "t1")
        #expect(first.calls.map(\.kind) == [.challengeForAttestation, .attestation])
        #expect(
            first.calls.map(\.path) == [
                Self.path + "generateAppAttestChallenge", Self.path + "exchangeAppAttestAttestation",
            ]
        )
        let token = try #require(first.outcomes.first?.newToken)
        #expect(first.outcomes.count == 1)
        #expect(token.text == "t1" && !token.isLimitedUse && token.expiresAt == Lab.noon + 3_600_000)
        #expect(client.isRegistered && client.keysMade == 1 && !client.isBusy)

        let later = Lab.noon + 3_600_000
        let second = StockServer.fetch(&client, limitedUse: false, at: later, token: "t2")
        #expect(second.calls.map(\.kind) == [.challengeForAssertion, .assertion])
        #expect(second.calls.last?.path == Self.path + "exchangeAppAttestAssertion")
        #expect(client.keysMade == 1 && second.calls.last?.keyID == first.calls.last?.keyID)
    }

    @Test func `a verifier accepts the client's attestations and assertions, and counters rise`() throws {
        var client = StockServer.client()
        let verifier = try Lab.verifier()
        var calls = StockServer.fetch(&client, limitedUse: true).calls
        let attestation = try #require(StockServer.body(calls[1]))
        let keyID = try #require(client.keyID)
        #expect(attestation["key_id"]?.base64Bytes == keyID.bytes && calls[1].keyID == keyID)
        #expect(attestation["challenge"]?.base64Bytes == StockServer.challenge)
        let evidence = try StockServer.verdict(calls[1], of: client).get()
        for counter in [1, 2] as [UInt32] {
            calls = StockServer.fetch(&client, limitedUse: true).calls
            let assertion = try #require(StockServer.body(calls[1]))
            #expect(assertion["artifact"]?.base64Bytes == StockServer.artifact)
            let verdict = verifier.prepareAssertion(
                try #require(assertion["assertion"]?.base64Bytes),
                clientDataHash: SHA256.hash(StockServer.artifact + StockServer.challenge).bytes,
                key: evidence.publicKey,
                expectations: Expectations(appIDs: [AppID(Lab.appID)])
            ).verified(by: OpenSSLEngine())
            #expect(try verdict.get().counter == counter)
        }
    }

    @Test
    func `bodies are snake_case with escaped slashes, their members in any order, as the contract's golden bodies`()
        throws
    {
        var orders: Set<[[UInt8]]> = []
        for seed in 0..<20 as Range<UInt64> {
            var client = StockServer.client(seed: seed)
            let calls = StockServer.fetch(&client, limitedUse: true).calls
            #expect(calls[0].body == nil && calls[0].keyID == nil)
            let text = String(decoding: try #require(calls[1].body), as: UTF8.self)
            #expect(text.ranges(of: "/").count == text.ranges(of: "\\/").count && text.contains("\\/"))
            #expect(text.contains("\"limited_use\":true") && !text.contains(" "))
            orders.insert(try #require(StockServer.body(calls[1])).members.map(\.name))
            let again = StockServer.fetch(&client, limitedUse: false).calls
            let assertion = try #require(StockServer.body(again[1]))
            try expectMembers(assertion, of: "exchangeAppAttestAssertion")
            #expect(assertion["limited_use"]?.bool == false)
            try expectMembers(try #require(StockServer.body(calls[1])), of: "exchangeAppAttestAttestation")
        }
        #expect(orders.count > 5)
    }

    private func expectMembers(_ body: JSONNode, of method: StaticString) throws {
        let golden = try #require(FirebaseContract.node("methods", method)?["sdkRequestBody"]?.stringBytes)
        let expected = try JSONDocument(parsing: golden).root.members.map(\.name)
        #expect(Set(body.members.map(\.name)) == Set(expected) && body.members.count == expected.count)
    }

    @Test func `the record's value has the path, and the body unchanged or none`() throws {
        var client = StockServer.client()
        let calls = StockServer.fetch(&client, limitedUse: false).calls
        #expect(String(decoding: calls[0].value, as: UTF8.self) == "{\"path\":\"\(calls[0].path)\"}")
        let body = String(decoding: try #require(calls[1].body), as: UTF8.self)
        #expect(
            String(decoding: calls[1].value, as: UTF8.self) == "{\"path\":\"\(calls[1].path)\",\"body\":\(body)}"
        )
    }

    @Test func `the gateway's headers name the installation, and the handshake if an attestation follows`() throws {
        var client = StockServer.client()
        let installation = client.installationID
        #expect(installation.utf8.count == 22)
        let first = StockServer.fetch(&client, limitedUse: true).calls
        let second = StockServer.fetch(&client, limitedUse: true).calls
        for call in first + second {
            let names = call.headers.map(\.name)
            #expect(names == (call == first[0] ? ["installation-id", "handshake"] : ["installation-id"]))
            #expect(call.headers[0].value == installation)
        }
        #expect(first[0].headers[1].value == "attestation")
        #expect(StockServer.client(seed: 6).installationID != installation)
    }

    @Test func `same seed, same events: same calls, byte for byte; another seed has another key`() {
        func calls(_ seed: UInt64) -> [StockCall] {
            var client = StockServer.client(seed: seed)
            let first = StockServer.fetch(&client, limitedUse: true).calls
            return first + StockServer.fetch(&client, limitedUse: true).calls
        }
        #expect(calls(1) == calls(1))
        #expect(calls(1)[1].keyID != calls(2)[1].keyID)
    }

    @Test func `a session token is reused while more than 5 minutes remain`() throws {
        var client = StockServer.client()
        StockServer.fetch(&client, limitedUse: false, token: "t1")
        for age in [0, 3_299_999] as [Int64] {
            let reply = client.want(limitedUse: false, at: Lab.noon + age)
            let token = try #require(reply.outcomes.first?.cachedToken)
            #expect(token.text == "t1" && reply.call == nil && !client.isBusy)
        }
        let late = client.want(limitedUse: false, at: Lab.noon + 3_300_000)
        #expect(late.outcomes.isEmpty && late.call?.kind == .challengeForAssertion)
    }

    @Test func `limited-use tokens are not cached, and the session's cache does not serve them`() {
        var client = StockServer.client()
        StockServer.fetch(&client, limitedUse: true, token: "l1")
        let session = client.want(limitedUse: false, at: Lab.noon)
        #expect(session.call != nil && session.outcomes.isEmpty)
        _ = StockServer.serve(&client, session, at: Lab.noon, token: "t1")
        #expect(client.want(limitedUse: true, at: Lab.noon).call != nil)
    }

    @Test func `one operation runs at a time: session callers share it, limited-use callers queue for one each`() {
        var client = StockServer.client()
        let first = client.want(limitedUse: false, at: Lab.noon)
        #expect(first.call != nil && client.isBusy)
        for limitedUse in [false, true, true] {
            #expect(client.want(limitedUse: limitedUse, at: Lab.noon) == StockReply())
        }
        let served = StockServer.serve(&client, first, at: Lab.noon)
        #expect(
            served.calls.map(\.kind) == [
                .challengeForAttestation, .attestation, .challengeForAssertion, .assertion, .challengeForAssertion,
                .assertion,
            ]
        )
        #expect(served.outcomes.map { $0.newToken?.isLimitedUse } == [false, false, true, true])
        #expect(!client.isBusy)
    }

    @Test func `session callers that wait for a limited-use operation share the next one`() {
        var client = StockServer.client()
        let first = client.want(limitedUse: true, at: Lab.noon)
        #expect(client.want(limitedUse: false, at: Lab.noon) == StockReply())
        #expect(client.want(limitedUse: false, at: Lab.noon) == StockReply())
        let served = StockServer.serve(&client, first, at: Lab.noon)
        #expect(served.calls.count == 4 && served.outcomes.count == 3)
        #expect(served.outcomes[1] == served.outcomes[2])
    }

    @Test func `Google Sign-In's resource is the OAuth client`() {
        let resource = StockClient.resource(oauthClientID: "123-abc.apps.googleusercontent.com")
        var client = StockClient(StockServer.model, resource: resource, seed: 1)
        let call = client.want(limitedUse: true, at: Lab.noon).call
        #expect(
            call?.path == "/v1/oauthClients/123-abc.apps.googleusercontent.com:generateAppAttestChallenge"
        )
    }
}
