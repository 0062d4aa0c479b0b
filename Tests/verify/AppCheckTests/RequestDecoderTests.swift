import AppAttest
import AppCheck
import JSON
import Testing

@Suite struct RequestDecoderTests {
    @Test(arguments: ["keyId", "key_id"], ["attestationStatement", "attestation_statement"])
    func `members are read in both spellings, and bytes in every alphabet`(
        _ keyName: String,
        _ attestationName: String
    ) throws {
        let urlSafe = String(Samples.keyText.dropLast().map { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 })
        let escaped = Samples.keyText.replacing("/", with: "\\/")
        for key in [Samples.keyText, urlSafe, urlSafe + "=", escaped] {
            for hashName in ["clientDataHash", "client_data_hash"] {
                let body = Samples.body([
                    (attestationName, "\"-_8\""), (keyName, "\"\(key)\""), (hashName, "\"AA==\""), ("other", "[null]"),
                ])
                let decoding = try Samples.decode(path: Samples.attestationPath, body: body)
                let request = try #require(decoding.request)
                #expect(request.keyID == Samples.keyID)
                #expect(request.body == .object(.attestation([0xFB, 0xFF]), .clientDataHash([0])))
            }
        }
    }

    @Test(arguments: ["clientData", "client_data"])
    func `client data is hashed`(_ name: String) throws {
        let data = Array("hello".utf8)
        let members = Samples.assertionBody.dropLast() + [(name, "\"\(Samples.text(data))\"")]
        let request = try #require(try Samples.decode(body: Samples.body(Array(members))).request)
        // SHA-256 of "hello".
        let digest = try #require(Base64.decode(Array("LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=".utf8)))
        #expect(request.body == .object(.assertion([1, 2, 3]), .clientDataHash(digest)))
    }

    @Test(
        arguments: [
            ("", .notJSON), (" ", .notJSON), ("{", .notJSON), ("{} {}", .notJSON), ("\u{FEFF}{}", .notJSON),
            ("{\"path\":\"\\ud800\"}", .notJSON), ("null", .noPath), ("[]", .noPath), ("\"path\"", .noPath),
            ("{}", .noPath), ("{\"path\":1}", .noPath), ("{\"path\":null}", .noPath), ("{\"Path\":\"x\"}", .noPath),
            ("{\"body\":{\"path\":\"x\"}}", .noPath), ("{\"path\":{\"path\":\"x\"}}", .noPath),
        ] as [(String, DeadLetterReason)]
    )
    func `a record that is not a request becomes a dead letter`(_ value: String, _ reason: DeadLetterReason) throws {
        #expect(try Samples.decoder().decode(value).deadLetter == reason)
    }

    @Test func `bytes that are not UTF-8 are not JSON`() throws {
        let value = Array("{\"path\":\"".utf8) + [0xFF] + Array("\"}".utf8)
        #expect(try Samples.decoder().decode(value).deadLetter == .notJSON)
    }

    @Test func `a value at the limit is read, one byte more is too large`() throws {
        let request = Samples.request()
        let decoder = try Samples.decoder()
        let room = RequestLimits().valueBytes - request.utf8.count
        #expect(decoder.decode(request + String(repeating: " ", count: room)).request != nil)
        #expect(decoder.decode(request + String(repeating: " ", count: room + 1)).deadLetter == .tooLarge)
    }

    private static func nested(_ depth: Int) -> String {
        String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
    }

    private static func wide(_ count: Int) -> String { "[" + String(repeating: "1,", count: count) + "1]" }

    @Test(arguments: [
        (nested(8), true), (wide(50), true), (nested(20_000), false), (wide(30_000), false), (wide(300), false),
    ])
    func `unknown members may be nested and wide, but no deeper or wider than any request`(
        value: String,
        isFine: Bool
    ) throws {
        #expect(try Samples.decoder().decode(value).deadLetter == .noPath)
        let decoding = try Samples.decode(body: Samples.body(Samples.assertionBody + [("x", value)]))
        #expect((decoding.request != nil) == isFine && decoding.refusal == (isFine ? nil : .malformedRequest))
    }

    @Test(
        arguments: [
            "", "/", ":", "v1", "verifyAssertion", "v1/projects/123456789012/apps/1", "v1/oauthClients/c",
            "v1/projects/123456789012:verifyAttestation",
            "v2/projects/123456789012/apps/\(Samples.appID):verifyAssertion",
            "//v1/projects/123456789012/apps/\(Samples.appID):verifyAssertion",
            "v1/projects/123456789012/apps/\(Samples.appID):verifyAssertion/",
            "v1//projects/123456789012/apps/\(Samples.appID):verifyAssertion",
            "v1/projects//apps/\(Samples.appID):verifyAssertion", "v1/projects/123456789012/apps/:verifyAssertion",
            "v1/projects/123456789012/app/\(Samples.appID):verifyAssertion",
            "v1/projects/123456789012/apps/\(Samples.appID)/x:verifyAssertion",
            "v1/projects/123456789012/apps/\(Samples.appID):", "v1/oauthClients/:verifyAssertion",
            "v1/oauthclients/\(Samples.oauthClient):verifyAssertion", "v1/projects/123456789012:verifyAssertion",
            "V1/projects/123456789012/apps/\(Samples.appID):verifyAssertion",
            "v1/projects/123456789012/apps/\(Samples.appID):verifyAppCheckToken",
            "https://host/v1/projects/123456789012/apps/\(Samples.appID):verifyAssertion",
            "v1/projects%2F123456789012/apps/\(Samples.appID):verifyAssertion",
        ]
    )
    func `a path of another form is malformed`(_ path: String) throws {
        let decoding = try Samples.decode(path: path)
        #expect(decoding.refusal == .malformedRequest)
        #expect(decoding.refusedPath == path)
        #expect(decoding.refusedKeyID == Samples.keyID)
        #expect(decoding.refusedStatus?.code == 400)
        #expect(decoding.refusedStatus?.status == "INVALID_ARGUMENT")
    }

    @Test(arguments: ["?key=secret", "#secret", "?#", "?"])
    func `text after a question mark or a hash is never echoed`(_ tail: String) throws {
        for path in [Samples.path + tail, "x" + tail, tail] {
            let decoding = try Samples.decode(path: path)
            #expect(decoding.refusal == .malformedRequest)
            #expect(decoding.refusedPath == String(path.dropLast(tail.count)))
        }
        // Also where another fault comes first, or the sign is escaped.
        let twice = "{\"path\":\"\(Samples.path)\(tail)\",\"path\":\"\(Samples.path)\(tail)\"}"
        #expect(try Samples.decoder().decode(twice).refusedPath == Samples.path)
        let escaped = Samples.request(path: Samples.path + "\\u003fkey=secret")
        #expect(try Samples.decoder().decode(escaped).refusedPath == Samples.path)
    }

    @Test(
        arguments: [
            "foo", "VerifyAssertion", "exchangeDebugToken", "exchangeDeviceCheckToken", "exchangeCustomToken",
            "verifyAssertion ", "verify%41ssertion",
        ]
    )
    func `the refusal of an unserved verb names the app as the caller sent it`(_ verb: String) throws {
        for (resource, name) in [
            ("projects/123456789012/apps/\(Samples.appID)", Samples.appID),
            ("projects/contract-test-1/apps/\(Samples.appID)", Samples.appID),
            ("oauthClients/\(Samples.oauthClient)", Samples.oauthClient),
        ] {
            let decoding = try Samples.decode(path: "v1/\(resource):\(verb)", body: "1")
            #expect(decoding.refusal == .unknownMethod)
            #expect(
                decoding.refusedStatus
                    == Status(code: 400, status: "FAILED_PRECONDITION", message: "App not registered: \(name).")
            )
        }
    }

    @Test func `for an unregistered app another provider's exchange gets 404, and an unknown verb names the app`()
        throws
    {
        for resource in ["projects/none/apps/1:2:ios:3", "oauthClients/1:2:ios:3"] {
            let exchange = try Samples.decode(path: "v1/\(resource):exchangeDebugToken")
            #expect(exchange.refusal == .unknownApp)
            let foreign = try Samples.decode(path: "v1/\(resource):foo")
            #expect(foreign.refusedStatus?.message == "App not registered: 1:2:ios:3.")
        }
    }

    @Test func `an unknown verb on a project is refused too`() throws {
        let decoding = try Samples.decode(path: "v1beta/projects/123456789012:foo")
        #expect(decoding.refusal == .unknownMethod)
        #expect(decoding.refusedStatus?.message == "App not registered.")
    }

    @Test(
        arguments: [
            "projects/123456789012/apps/1:2:ios:3", "projects/contract-test-2/apps/\(Samples.appID)",
            "projects/999/apps/\(Samples.appID)", "oauthClients/other", "oauthClients/\(Samples.appID)",
            "projects/123456789012/apps/\(Samples.oauthClient)", "projects/contract%2Dtest%2D1/apps/\(Samples.appID)",
        ]
    )
    func `an unregistered app, project or client is unknown`(_ resource: String) throws {
        // Judged before the body.
        for body in ["{}", Samples.body(Samples.assertionBody)] {
            let path = "v1/\(resource):verifyAssertion"
            let decoding = try Samples.decode(path: path, body: body)
            #expect(decoding.refusal == .unknownApp)
            #expect(decoding.refusedStatus?.code == 404)
            #expect(decoding.refusedKeyID == (body == "{}" ? nil : Samples.keyID))
        }
    }

    @Test func `duplicate members on the top level are malformed, whatever their name`() throws {
        let body = Samples.body(Samples.assertionBody)
        for value in [
            "{\"path\":\"\(Samples.path)\",\"path\":\"\(Samples.path)\",\"body\":\(body)}",
            "{\"path\":1,\"path\":\"\(Samples.path)\",\"body\":\(body)}",
            "{\"path\":\"\(Samples.path)\",\"p\\u0061th\":\"x\",\"body\":\(body)}",
            "{\"path\":\"\(Samples.path)\",\"body\":\(body),\"body\":\(body)}",
            "{\"path\":\"\(Samples.path)\",\"body\":\(body),\"x\":1,\"x\":1}",
        ] {
            let decoding = try Samples.decoder().decode(value)
            #expect(decoding.refusal == .malformedRequest)
            #expect(decoding.refusedPath == Samples.path)
            #expect(decoding.refusedKeyID == nil)
        }
        let other = "{\"x\":1,\"path\":\"\(Samples.path)\",\"y\":[{}],\"body\":\(body)}"
        #expect(try Samples.decoder().decode(other).request != nil)
    }
}
