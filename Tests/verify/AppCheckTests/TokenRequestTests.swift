import AppAttest
import AppCheck
import JSON
import Testing

/// verifyAppCheckToken: the project of the path, and the record key that the token claims.
@Suite struct TokenRequestTests {
    private static func decode(_ token: String, project: String = "contract-test-1") throws -> RequestDecoding {
        let path = "v1beta/projects/\(project):verifyAppCheckToken"
        return try Samples.decode(path: path, body: Samples.body([("app_check_token", "\"\(token)\"")]))
    }

    private static func token(_ payload: String) -> String { "e30.\(Samples.payload(payload)).c2ln" }

    @Test(arguments: ["123456789012", "contract-test-1"])
    func `a project is found by number and id, on v1 and v1beta`(_ project: String) throws {
        let token = Self.token("{\"jti\":\"t-1\",\"sub\":\"x\"}")
        for version in ["v1", "/v1beta"] {
            let path = "\(version)/projects/\(project):verifyAppCheckToken"
            let value = Samples.request(path: path, body: Samples.body([("appCheckToken", "\"\(token)\"")]))
            let request = try #require(try Samples.decoder().decode(value).request)
            #expect(request.resource == .project(number: "123456789012"))
            #expect(request.appID == nil && request.keyID == nil)
            #expect(request.path.shown == path && request.isBeta == version.hasSuffix("beta"))
            #expect(request.body == .verifyToken(token: Array(token.utf8)))
            #expect(request.requiredRecordKey == Array("t-1".utf8))
        }
    }

    @Test(arguments: ["1", "contract-test-2", Samples.appID, ""])
    func `an unregistered project is unknown`(_ project: String) throws {
        let refused = try Self.decode(Self.token("{\"jti\":\"t-1\"}"), project: project)
        #expect(refused.refusal == .unknownApp && refused.refusedStatus?.code == 404)
    }

    @Test(
        arguments: [
            ("a", true), (String(repeating: "j", count: 250), true), (String(repeating: "j", count: 251), false),
        ]
            + [("", false), ("\u{E9}", true), (String(repeating: "\u{E9}", count: 126), false)]
    )
    func `a jti has 1 to 250 bytes of any text`(_ identifier: String, _ isTaken: Bool) throws {
        let decoding = try Self.decode(Self.token("{\"exp\":1,\"jti\":\"\(identifier)\"}"))
        #expect(decoding.refusal == (isTaken ? nil : .tokenInvalid))
        #expect(decoding.request?.requiredRecordKey == (isTaken ? Array(identifier.utf8) : nil))
    }

    @Test(
        arguments: [
            "{}", "{\"jti\":1}", "{\"jti\":null}", "{\"jti\":[\"a\"]}", "{\"Jti\":\"a\"}", "[\"jti\"]", "\"jti\"", "",
            "{\"jti\":\"a\"", "{\"jti\":\"a\"} {}", "{\"jti\":\"a\",\"jti\":\"b\"}", "{\"jti\":\"a\",\"x\":1,\"x\":1}",
            "{\"jti\":\"a\",\"x\":\(String(repeating: "[", count: 17) + String(repeating: "]", count: 17))}",
            "{\"jti\":\"a\",\"x\":[\(String(repeating: "1,", count: 300))1]}",
        ]
    )
    func `a token with an unreadable payload, or without a jti, is invalid`(_ payload: String) throws {
        let refused = try Self.decode(Self.token(payload))
        #expect(refused.refusal == .tokenInvalid)
        #expect(refused.refusedStatus?.code == 403 && refused.refusedStatus?.status == "PERMISSION_DENIED")
        #expect(refused.refusedKeyID == nil)
    }

    @Test(
        arguments: [
            "", ".", "..", "...", "a.b.c", "eyJqdGkiOiJ0In0", "a.eyJqdGkiOiJ0In0", "a.eyJqdGkiOiJ0In0.b.c",
            "a.eyJqdGkiOiJ0In0*.b", "a.eyJqdGkiOiJ0In1.b", "eyJqdGkiOiJ0In0.a.b", "a. eyJqdGkiOiJ0In0.b",
        ]
    )
    func `a token without three parts, or whose payload is not base64, is invalid`(_ token: String) throws {
        #expect(try Self.decode(token).refusal == .tokenInvalid)
        #expect(try Self.decode("a.eyJqdGkiOiJ0In0.b").request != nil)
    }

    @Test(arguments: ["null", "1", "[]", "{}", "true", nil])
    func `a token that is not a string is malformed`(_ value: String?) throws {
        let body = Samples.body(value.map { [("appCheckToken", $0)] } ?? [])
        let request = Samples.request(path: Samples.path(.verifyAppCheckToken), body: body)
        #expect(try Samples.decoder().decode(request).refusal == .malformedRequest)
    }
}
