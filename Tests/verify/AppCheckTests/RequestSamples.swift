import AppAttest
import AppCheck
import Crypto
import JSON

enum Samples {
    static let appID = "1:123456789012:ios:0123456789abcdef"
    static let oauthClient = "123456789012-abc.apps.googleusercontent.com"
    /// 32 bytes whose base64 holds both signs.
    static let keyBytes: [UInt8] = [0xFB, 0xFF, 0xBF] + (3..<32).map { UInt8($0) }
    static let keyText = String(decoding: Base64.encode(keyBytes), as: UTF8.self)
    static let keyID = KeyID(keyBytes.span)
    static let path = "v1/projects/123456789012/apps/\(appID):verifyAssertion"
    static let attestationPath = "v1/projects/123456789012/apps/\(appID):verifyAttestation"

    /// Version 1, the key ID, and room for the rest.
    static let artifact: [UInt8] = [1] + keyBytes + [UInt8](repeating: 0xA5, count: 33)

    static func path(_ verb: Verb) -> String {
        verb == .verifyAppCheckToken
            ? "v1beta/projects/contract-test-1:\(verb.rawValue)"
            : "v1/projects/contract-test-1/apps/\(appID):\(verb.rawValue)"
    }

    /// A JWT's payload.
    static func payload(_ json: String) -> String {
        String(decoding: Base64.encodeURL(Array(json.utf8)), as: UTF8.self)
    }

    /// - Parameter length: of the client data hash; most tests have short ones.
    static func registry(
        _ length: ClientDataHashLength = .any,
        debugTokens: [DebugToken] = []
    ) throws -> Registry {
        var app = RegisteredApp(
            projectNumber: "123456789012",
            projectID: "contract-test-1",
            appID: appID,
            oauthClientIDs: [oauthClient],
            expectations: Expectations(appIDs: [AppID("ABCDE12345.com.example.app")]),
            clientDataHash: length
        )
        app.debugTokens = debugTokens
        let other = RegisteredApp(
            projectNumber: "999",
            projectID: nil,
            appID: "1:999:ios:ff",
            expectations: Expectations(appIDs: [])
        )
        return try Registry(apps: [other, app])
    }

    /// Every verb is served by the app.
    static func wholeDecoder() throws -> RequestDecoder {
        let token = DebugToken(hash: SHA256.hash([]), name: "ci", until: EvaluationTime(milliseconds: 0))
        return RequestDecoder(registry: try registry(debugTokens: [token]), limits: RequestLimits())
    }

    static func decoder(
        _ limits: RequestLimits = RequestLimits(),
        _ length: ClientDataHashLength = .any
    ) throws -> RequestDecoder {
        RequestDecoder(registry: try registry(length), limits: limits)
    }

    static func decode(path: String = path, body: String = body(assertionBody)) throws -> RequestDecoding {
        try decoder().decode(request(path: path, body: body))
    }

    static func text(_ bytes: [UInt8]) -> String { String(decoding: Base64.encode(bytes), as: UTF8.self) }

    /// The body's members of an assertion request, in order.
    static let assertionBody: [(String, String)] = [
        ("keyId", "\"\(keyText)\""), ("assertion", "\"AQID\""), ("clientDataHash", "\"BAUG\""),
    ]

    static func body(_ members: [(String, String)]) -> String {
        "{" + members.map { "\"\($0.0)\":\($0.1)" }.joined(separator: ",") + "}"
    }

    static func request(path: String = path, body: String = body(assertionBody)) -> String {
        "{\"path\":\"\(path)\",\"body\":\(body)}"
    }
}

extension RequestDecoder {
    func decode(_ text: String) -> RequestDecoding { decode(Array(text.utf8)) }
}

extension RequestDecoding {
    var request: Request? { if case .request(let request) = self { request } else { nil } }
    var refusal: Reason? { if case .refused(let reason, _, _, _) = self { reason } else { nil } }
    var refusedPath: String? { if case .refused(_, let path, _, _) = self { path.shown } else { nil } }
    var refusedKeyID: KeyID? { if case .refused(_, _, let keyID, _) = self { keyID } else { nil } }
    var refusedStatus: Status? { if case .refused(_, _, _, let status) = self { status } else { nil } }
    var deadLetter: DeadLetterReason? { if case .deadLetter(let reason) = self { reason } else { nil } }
}
