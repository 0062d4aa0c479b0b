import AppAttest
import AppCheck
import JSON
import TestKit
import Testing

/// The facts of firebase-contract.json about requests, one by one.
@Suite struct ContractTests {
    private static func decode(_ path: String, _ body: String) throws -> RequestDecoding {
        RequestDecoder(registry: try ExchangeKit.registry(), limits: RequestLimits())
            .decode(Samples.request(path: path, body: body))
    }

    private static func path(_ verb: String) -> String { "v1/\(ExchangeKit.resource):\(verb)" }

    @Test func `each resource name of the contract resolves, or gets 404`() throws {
        let cases = try #require(FirebaseContract.node("resourceNames", "cases")).elements
        #expect(cases.count == 8)
        for item in cases {
            let path = try #require(FirebaseContract.text(item, "path"))
            let verb = FirebaseContract.text(item, "verb") ?? String(path.split(separator: ":").last ?? "")
            let members = Verb(rawValue: verb).map(ExchangeRequestTests.members) ?? []
            let decoding = try Self.decode(path, Samples.body(members))
            if let code = item["expect"]?.integer {
                #expect(decoding.refusedStatus?.code == Int(code), "\(path)")
                #expect(decoding.refusal == .unknownApp && decoding.refusedPath == path, "\(path)")
                continue
            }
            let request = try #require(decoding.request, "\(path)")
            #expect(request.path.shown == path && request.verb.rawValue == verb)
            #expect(request.isBeta == path.hasPrefix("/v1beta/"))
            if let client = FirebaseContract.text(item, "oauthClient") {
                #expect(request.resource == .oauthClient(0, clientID: ExactText(client)))
            } else {
                #expect(request.resource == .app(0, appID: ExactText(try #require(FirebaseContract.text(item, "app")))))
            }
        }
    }

    @Test func `each base64 text that the contract accepts decodes to the same bytes, and its own spelling is written`()
        throws
    {
        let facts = try #require(FirebaseContract.node("json", "base64"))
        let raw = try #require(FirebaseContract.text(facts, "raw"))
        let texts = try #require(facts["accept"]).elements.compactMap(\.string)
        #expect(texts.count == 4)
        for text in texts {
            let members = [
                ("attestationStatement", "\"AQID\""), ("challenge", "\"\(text)\""), ("keyId", "\"\(text)\""),
            ]
            let path = Self.path("exchangeAppAttestAttestation")
            let request = try #require(try Self.decode(path, Samples.body(members)).request)
            let exchange = try #require(request.exchange)
            let challenge = exchange.challenge
            #expect(request.attestation != nil && !exchange.limitedUse)
            #expect(Hexadecimal.encode(challenge) == raw)
            #expect(request.keyID?.bytes == challenge)
            #expect(request.keyID?.recordKey == Array(try #require(FirebaseContract.text(facts, "emit")).utf8))
        }
    }

    @Test func `the attestation exchange is read as the contract writes it and as the SDK sends it`() throws {
        let facts = try #require(FirebaseContract.node("methods", "exchangeAppAttestAttestation"))
        let request = try #require(facts["request"])
        let path = Self.path("exchangeAppAttestAttestation")
        for body in [Self.text(request), try #require(FirebaseContract.text(facts, "sdkRequestBody"))] {
            let decoded = try #require(try Self.decode(path, body).request)
            let challenge = try #require(request["challenge"]?.base64Bytes)
            #expect(decoded.attestation == (try #require(request["attestationStatement"]?.base64Bytes)))
            #expect(decoded.exchange == Request.Exchange(challenge: challenge, limitedUse: false))
            let keyID = FirebaseContract.node("hashing", "keyId")
            let recordKey = Array(try #require(FirebaseContract.text(keyID, "text")).utf8)
            #expect(decoded.requiredRecordKey == recordKey)
            #expect(decoded.keyID?.bytes.count == 32)
        }
    }

    /// The contract's artifact is made up and none of ours, so ours takes its place.
    @Test func `the assertion exchange is read as the contract writes it and as the SDK sends it`() throws {
        let facts = try #require(FirebaseContract.node("methods", "exchangeAppAttestAssertion"))
        let request = try #require(facts["request"])
        let foreign = try #require(FirebaseContract.text(request, "artifact"))
        let path = Self.path("exchangeAppAttestAssertion")
        for body in [Self.text(request), try #require(FirebaseContract.text(facts, "sdkRequestBody"))] {
            let refused = try Self.decode(path, body)
            #expect(refused.refusal == .artifactInvalid && refused.refusedStatus?.code == 403)
            let ours = Samples.text(Samples.artifact)
            let replaced = body.replacing(foreign, with: ours)
                .replacing(foreign.replacing("/", with: "\\/"), with: ours.replacing("/", with: "\\/"))
            let decoded = try #require(try Self.decode(path, replaced).request)
            let challenge = try #require(request["challenge"]?.base64Bytes)
            let exchange = Request.Exchange(artifact: Samples.artifact, challenge: challenge, limitedUse: true)
            #expect(decoded.assertion == (try #require(request["assertion"]?.base64Bytes)))
            #expect(decoded.exchange == exchange)
            #expect(decoded.keyID == Samples.keyID && decoded.requiredRecordKey == Array(Samples.keyText.utf8))
        }
    }

    @Test func `a token check is accepted under both names of its member; the contract's own token has no payload`()
        throws
    {
        let facts = try #require(FirebaseContract.node("methods", "verifyAppCheckToken"))
        let token = try #require(FirebaseContract.text(facts["request"], "appCheckToken"))
        let path = "v1beta/projects/\(ExchangeKit.projectNumber):verifyAppCheckToken"
        let sdkBody = try #require(FirebaseContract.text(facts, "sdkRequestBody"))
        for body in [Self.text(try #require(facts["request"])), sdkBody] {
            let refused = try Self.decode(path, body)
            #expect(refused.refusal == .tokenInvalid)
            #expect(refused.refusedStatus?.code == (facts["invalidToken"]?.integer).map { Int($0) })
            let readable = token.replacing("PAYLOAD", with: Samples.payload("{\"jti\":\"id-1\"}"))
            let decoded = try #require(try Self.decode(path, body.replacing(token, with: readable)).request)
            #expect(decoded.body == .verifyToken(token: Array(readable.utf8)))
            #expect(decoded.requiredRecordKey == Array("id-1".utf8))
        }
    }

    /// An object of strings and booleans, written again.
    private static func text(_ object: JSONNode) -> String {
        Samples.body(
            object.members.map { member in
                let value = member.value.bool.map { "\($0)" } ?? "\"\(member.value.string ?? "")\""
                return (String(decoding: member.name, as: UTF8.self), value)
            }
        )
    }
}
