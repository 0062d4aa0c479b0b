import AppAttest
import AppCheck
import JSON
import Testing

/// The verbs: what a request must look like.
@Suite struct ExchangeRequestTests {
    private static let exchanges: [Verb] = [
        .generateAppAttestChallenge, .exchangeAppAttestAttestation, .exchangeAppAttestAssertion,
    ]

    /// The members of a body that is taken; those of verifyAppCheckToken hold the jti `t-1`.
    static func members(_ verb: Verb) -> [(String, String)] {
        switch verb {
        case .exchangeAppAttestAttestation:
            [("keyId", "\"\(Samples.keyText)\""), ("attestationStatement", "\"AQID\""), ("challenge", "\"BAUG\"")]
        case .exchangeAppAttestAssertion:
            [
                ("artifact", "\"\(Samples.text(Samples.artifact))\""), ("assertion", "\"AQID\""),
                ("challenge", "\"BAUG\""),
            ]
        case .exchangeDebugToken: [("debugToken", "\"6f1b0c39-3e0c-4c58-8f2e-0b6a4d0f1c11\""), ("limitedUse", "true")]
        case .verifyAppCheckToken:
            [("appCheckToken", "\"e30.\(Samples.payload("{\"jti\":\"t-1\"}")).c2ln\"")]
        case .verifyAttestation:
            [Samples.assertionBody[0], ("attestationStatement", "\"AQID\""), ("clientData", "\"BAUG\"")]
        case .verifyAssertion: Samples.assertionBody
        default: []
        }
    }

    private static func decode(_ verb: Verb, _ members: [(String, String)]) throws -> RequestDecoding {
        try Samples.decode(path: Samples.path(verb), body: Samples.body(members))
    }

    @Test(arguments: exchanges + [.verifyAttestation, .verifyAssertion])
    func `every name of an app resolves to the same app, with every verb`(_ verb: Verb) throws {
        for (resource, name) in [
            ("v1/projects/123456789012/apps/\(Samples.appID)", Samples.appID),
            ("/v1beta/projects/contract-test-1/apps/\(Samples.appID)", Samples.appID),
            ("v1/oauthClients/\(Samples.oauthClient)", Samples.oauthClient),
            ("v1beta/oauthClients/\(Samples.oauthClient)", Samples.oauthClient),
        ] {
            let path = "\(resource):\(verb.rawValue)"
            let request = try #require(try Samples.decode(path: path, body: Samples.body(Self.members(verb))).request)
            #expect(request.verb == verb && request.path.shown == path && request.app == 1)
            #expect(request.isBeta == resource.contains("v1beta"))
            #expect(request.appID?.shown == name)
            let isClient = name == Samples.oauthClient
            #expect(
                request.resource
                    == (isClient ? .oauthClient(1, clientID: ExactText(name)) : .app(1, appID: ExactText(name)))
            )
        }
    }

    @Test(arguments: ["null", "{}", "\"\"", "{\"x\":1}", nil])
    func `a challenge needs no body and no key`(_ body: String?) throws {
        let path = Samples.path(.generateAppAttestChallenge)
        let value = body.map { Samples.request(path: path, body: $0) } ?? "{\"path\":\"\(path)\"}"
        let request = try #require(try Samples.decoder().decode(value).request)
        #expect(request.body == .generateChallenge)
        #expect(request.keyID == nil && request.requiredRecordKey == nil)
    }

    @Test(arguments: ["[]", "1", "\" \"", "false", "{\"x\":1,\"x\":1}"])
    func `a challenge request whose body is not empty is malformed`(_ body: String) throws {
        let decoding = try Samples.decode(path: Samples.path(.generateAppAttestChallenge), body: body)
        #expect(decoding.refusal == .malformedRequest)
    }

    @Test(arguments: [nil, false, true] as [Bool?])
    func `an attestation exchange is read in both spellings`(_ limitedUse: Bool?) throws {
        for spelling in [
            ["keyId", "attestationStatement", "challenge", "limitedUse"],
            ["key_id", "attestation_statement", "challenge", "limited_use"],
        ] {
            let escaped = Samples.keyText.replacing("/", with: "\\/")
            let limited = limitedUse.map { [(spelling[3], "\($0)")] } ?? []
            let members =
                [(spelling[0], "\"\(escaped)\""), (spelling[1], "\"-_8\""), (spelling[2], "\"\\/w==\"")] + limited
            let request = try #require(try Self.decode(.exchangeAppAttestAttestation, members).request)
            #expect(request.attestation == [0xFB, 0xFF])
            #expect(request.exchange == Request.Exchange(challenge: [0xFF], limitedUse: limitedUse))
            #expect(request.keyID == Samples.keyID)
            #expect(request.requiredRecordKey == Array(Samples.keyText.utf8))
        }
    }

    @Test(arguments: ["limitedUse", "limited_use"])
    func `an assertion exchange takes its key ID from the artifact`(_ name: String) throws {
        let members = Self.members(.exchangeAppAttestAssertion) + [("keyId", "\"AAAA\""), (name, "true")]
        let request = try #require(try Self.decode(.exchangeAppAttestAssertion, members).request)
        let exchange = Request.Exchange(artifact: Samples.artifact, challenge: [4, 5, 6], limitedUse: true)
        #expect(request.assertion == [1, 2, 3] && request.exchange == exchange)
        #expect(request.keyID == Samples.keyID)
        #expect(request.requiredRecordKey == Array(Samples.keyText.utf8))
    }

    @Test func `an artifact of another version, or too short for its parts, is invalid`() throws {
        func decode(_ artifact: [UInt8]) throws -> RequestDecoding {
            var members = Self.members(.exchangeAppAttestAssertion)
            members[0].1 = "\"\(Samples.text(artifact))\""
            return try Self.decode(.exchangeAppAttestAssertion, members)
        }
        let good = Samples.artifact
        #expect(good.count == 66)
        #expect(try decode(good).request != nil && decode(good + [0]).request != nil)
        for count in 0..<66 { #expect(try decode(Array(good[..<count])).refusal == .artifactInvalid) }
        for version in [0, 2, 3, 0x81, 0xFF] as [UInt8] {
            let refused = try decode([version] + good[1...])
            #expect(refused.refusal == .artifactInvalid && refused.refusedKeyID == nil)
            #expect(refused.refusedStatus?.message == "App attestation failed.")
        }
    }

    @Test func `a missing member is reported before an invalid artifact`() throws {
        var members = Self.members(.exchangeAppAttestAssertion)
        members[0].1 = "\"\""
        #expect(try Self.decode(.exchangeAppAttestAssertion, members).refusal == .artifactInvalid)
        members.removeLast()
        #expect(try Self.decode(.exchangeAppAttestAssertion, members).refusal == .malformedRequest)
    }

    @Test(
        arguments: [.exchangeAppAttestAttestation, .exchangeAppAttestAssertion, .verifyAttestation, .verifyAssertion]
            as [Verb],
        ["null", "true", "0", "[]", "{}", "\"*\"", "\"A\"", "\"QQ=\"", "\" QQ==\"", "\"+_8=\"", nil]
    )
    func `a missing member, a wrong type or invalid base64 is malformed`(_ verb: Verb, _ value: String?) throws {
        let good = Self.members(verb)
        #expect(try Self.decode(verb, good).request != nil)
        for index in good.indices {
            var members = good
            if let value { members[index].1 = value } else { members.remove(at: index) }
            #expect(try Self.decode(verb, members).refusal == .malformedRequest)
        }
    }

    @Test(arguments: ["limitedUse", "limited_use"])
    func `a limited use of null counts as unset`(_ name: String) throws {
        for verb in [Verb.exchangeAppAttestAttestation, .exchangeAppAttestAssertion] {
            let request = try #require(try Self.decode(verb, Self.members(verb) + [(name, "null")]).request)
            #expect(request.exchange?.limitedUse == false)
            let other = name == "limitedUse" ? "limited_use" : "limitedUse"
            let both = try Self.decode(verb, Self.members(verb) + [(name, "null"), (other, "true")])
            #expect(both.request != nil)
        }
    }

    @Test(arguments: ["0", "1", "\"true\"", "\"\"", "[]", "{}"])
    func `limited use is a boolean`(_ value: String) throws {
        for verb in [Verb.exchangeAppAttestAttestation, .exchangeAppAttestAssertion] {
            for name in ["limitedUse", "limited_use"] {
                let refused = try Self.decode(verb, Self.members(verb) + [(name, value)])
                #expect(refused.refusal == .malformedRequest)
                #expect(refused.refusedKeyID == Samples.keyID)
            }
        }
    }

    @Test(
        arguments: [
            (.exchangeAppAttestAttestation, "key_id", "keyId"),
            (.exchangeAppAttestAttestation, "attestation_statement", "attestationStatement"),
            (.exchangeAppAttestAttestation, "limited_use", "limitedUse"),
            (.exchangeAppAttestAssertion, "limited_use", "limitedUse"),
            (.exchangeAppAttestAssertion, "challenge", "artifact"),
            (.verifyAppCheckToken, "app_check_token", "appCheckToken"), (.verifyAssertion, "key_id", "keyId"),
            (.verifyAssertion, "assertion", "key\\u0049d"), (.verifyAssertion, "client_data_hash", "clientDataHash"),
            (.verifyAssertion, "client_data", "clientData"),
            (.verifyAttestation, "attestation_statement", "attestationStatement"),
            (.verifyAttestation, "client_data", "clientData"),
        ] as [(Verb, String, String)]
    )
    func `two spellings or two copies of one member are malformed, unknown members are ignored`(
        _ verb: Verb,
        _ first: String,
        _ second: String
    ) throws {
        let good = Self.members(verb) + (first == "limited_use" ? [("limitedUse", "true")] : [])
        let unknown = [("x", "[null]"), ("y", "{\"z\":1,\"z\":1}"), ("Challenge", "1")]
        #expect(try Self.decode(verb, good + unknown).request != nil)
        #expect(try Self.decode(verb, good + [("x", "1"), ("x", "1")]).refusal == .malformedRequest)
        for name in [first, second] {
            #expect(try Self.decode(verb, good + [(name, "\"AQID\"")]).refusal == .malformedRequest)
        }
    }

    @Test func `an app's verb on a project alone is an unknown app; a token check on an app is malformed`() throws {
        for verb in Self.exchanges {
            for resource in ["projects/contract-test-1", "projects/contract-test-1/apps/", "oauthClients/"] {
                let body = Samples.body(Self.members(verb))
                let refused = try Samples.decode(path: "v1/\(resource):\(verb.rawValue)", body: body)
                #expect(refused.refusal == .unknownApp && refused.refusedStatus?.code == 404)
            }
        }
        for resource in ["projects/contract-test-1/apps/\(Samples.appID)", "oauthClients/\(Samples.oauthClient)"] {
            let path = "v1beta/\(resource):verifyAppCheckToken"
            #expect(try Samples.decode(path: path).refusal == .malformedRequest)
        }
    }
}
