import AppAttest
import AppCheck
import JSON
import TestKit
import Testing

/// The facts of firebase-contract.json about requests, one by one.
@Suite struct ContractTests {
    private static let identifiers = FirebaseContract.node("identifiers")

    private static func identifier(_ name: StaticString) throws -> String {
        try #require(FirebaseContract.text(identifiers, name))
    }

    private static func decoder() throws -> RequestDecoder {
        let app = RegisteredApp(
            projectNumber: try identifier("projectNumber"),
            projectID: try identifier("projectId"),
            appID: try identifier("appId"),
            oauthClientIDs: [try identifier("oauthClientId")],
            expectations: Expectations(appIDs: [AppID(try identifier("appIdPrefixedBundle"))])
        )
        return RequestDecoder(registry: try Registry(apps: [app]), limits: RequestLimits())
    }

    /// A body that each verb takes.
    private static func body(of verb: String) throws -> String {
        switch verb {
        case "generateAppAttestChallenge": "{}"
        case "exchangeAppAttestAttestation":
            Samples.body([("attestationStatement", "\"AQID\""), ("challenge", "\"BAUG\""), Samples.assertionBody[0]])
        default:
            Samples.body([
                ("artifact", "\"\(Samples.text(Samples.artifact))\""), ("challenge", "\"BAUG\""),
                ("assertion", "\"AQID\""),
            ])
        }
    }

    @Test func `each resource name of the contract resolves, or gets 404`() throws {
        let cases = try #require(FirebaseContract.node("resourceNames", "cases")).elements
        #expect(cases.count == 8)
        for item in cases {
            let path = try #require(FirebaseContract.text(item, "path"))
            let verb = FirebaseContract.text(item, "verb") ?? String(path.split(separator: ":").last ?? "")
            let value = Samples.request(path: path, body: try Self.body(of: verb))
            let decoding = try Self.decoder().decode(value)
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
            let path = try path("exchangeAppAttestAttestation")
            let request = try #require(
                try Self.decoder().decode(Samples.request(path: path, body: Samples.body(members))).request
            )
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
        let path = try path("exchangeAppAttestAttestation")
        for body in [Self.text(request), try #require(FirebaseContract.text(facts, "sdkRequestBody"))] {
            let decoded = try #require(try Self.decoder().decode(Samples.request(path: path, body: body)).request)
            #expect(
                decoded.body
                    == .exchange(
                        .attestation(try #require(request["attestationStatement"]?.base64Bytes)),
                        challenge: try #require(request["challenge"]?.base64Bytes),
                        limitedUse: false
                    )
            )
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
        let path = try path("exchangeAppAttestAssertion")
        for body in [Self.text(request), try #require(FirebaseContract.text(facts, "sdkRequestBody"))] {
            let refused = try Self.decoder().decode(Samples.request(path: path, body: body))
            #expect(refused.refusal == .artifactInvalid && refused.refusedStatus?.code == 403)
            let ours = Samples.text(Samples.artifact)
            let replaced = body.replacing(foreign, with: ours)
                .replacing(foreign.replacing("/", with: "\\/"), with: ours.replacing("/", with: "\\/"))
            let decoded = try #require(try Self.decoder().decode(Samples.request(path: path, body: replaced)).request)
            #expect(
                decoded.body
                    == .exchange(
                        .assertion(try #require(request["assertion"]?.base64Bytes)),
                        artifact: Samples.artifact,
                        challenge: try #require(request["challenge"]?.base64Bytes),
                        limitedUse: true
                    )
            )
            #expect(decoded.keyID == Samples.keyID && decoded.requiredRecordKey == Array(Samples.keyText.utf8))
        }
    }

    @Test func `a token check is accepted under both names of its member; the contract's own token has no payload`()
        throws
    {
        let facts = try #require(FirebaseContract.node("methods", "verifyAppCheckToken"))
        let token = try #require(FirebaseContract.text(facts["request"], "appCheckToken"))
        let project = try Self.identifier("projectNumber")
        let path = "v1beta/projects/\(project):verifyAppCheckToken"
        let sdkBody = try #require(FirebaseContract.text(facts, "sdkRequestBody"))
        for body in [Self.text(try #require(facts["request"])), sdkBody] {
            let refused = try Self.decoder().decode(Samples.request(path: path, body: body))
            #expect(refused.refusal == .tokenInvalid)
            #expect(refused.refusedStatus?.code == (facts["invalidToken"]?.integer).map { Int($0) })
            let readable = token.replacing("PAYLOAD", with: Samples.payload("{\"jti\":\"id-1\"}"))
            let decoded = try #require(
                try Self.decoder().decode(
                    Samples.request(path: path, body: body.replacing(token, with: readable))
                ).request
            )
            #expect(decoded.body == .verifyToken(token: Array(readable.utf8)))
            #expect(decoded.requiredRecordKey == Array("id-1".utf8))
        }
    }

    private func path(_ verb: String) throws -> String {
        "v1/projects/\(try Self.identifier("projectId"))/apps/\(try Self.identifier("appId")):\(verb)"
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
