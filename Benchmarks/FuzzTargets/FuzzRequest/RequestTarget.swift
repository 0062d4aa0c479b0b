internal import AppAttest
internal import AppCheck
internal import Crypto
internal import JSON
internal import Pipeline

/// Hostile record values and capture lines: every reader of text that the worker and the refresher have.
struct RequestTarget {
    private let decoder: RequestDecoder

    init() throws {
        let expectations = Expectations(appIDs: [AppID("ABCDE12345.com.example.app")])
        var app = RegisteredApp(
            projectNumber: "123456789012",
            projectID: "contract-test-1",
            appID: "1:123456789012:ios:0123456789abcdef",
            oauthClientIDs: ["client.apps.example.com"],
            expectations: expectations
        )
        let hash = SHA256.hash(Array("5f9e2a0c-1d5b-4d0a-9c35-0a6d8e2b7f41".utf8))
        app.risk.mode = .report
        app.debugTokens = [DebugToken(hash: hash, name: "d", until: EvaluationTime(milliseconds: .max))]
        decoder = RequestDecoder(registry: try Registry(apps: [app]), limits: RequestLimits())
    }

    func run(_ input: [UInt8]) {
        checkBase64(input)
        checkDocument(input)
        checkCapture(input)
        checkRequest(input)
        AnswerTarget.run(input)
    }

    /// What decodes is canonical: one text for each sequence of bytes, up to alphabet and padding.
    private func checkBase64(_ input: [UInt8]) {
        guard let bytes = Base64.decode(input) else { return }
        let texts = [Base64.encode(bytes), Base64.encodeURL(bytes)]
        let bare = input.prefix { $0 != UInt8(ascii: "=") }
        precondition(texts.contains { $0.prefix { $0 != UInt8(ascii: "=") } == bare }, "base64 has one spelling")
    }

    private func checkDocument(_ input: [UInt8]) {
        guard let document = try? JSONDocument(parsing: input) else { return }
        visit(document.root)
        // What is JSON is JSON also where strings may hold any bytes.
        precondition((try? JSONDocument(parsing: input, allowInvalidUTF8: true)) != nil, "laxer reading refuses")
    }

    private func visit(_ node: JSONNode) {
        _ = node.string
        _ = node.integer
        precondition(
            node.base64Bytes == node.stringBytes.flatMap { Base64.decode($0) },
            "base64 is the same with its escapes and without"
        )
        _ = node.hasDuplicateMembers
        for element in node.elements { visit(element) }
        for member in node.members { visit(member.value) }
    }

    /// What was read is written, and reads back as the same record.
    private func checkCapture(_ input: [UInt8]) {
        guard let record = try? CaptureCodec.decode(input) else { return }
        var line: [UInt8] = []
        CaptureCodec.encode(record, into: &line)
        precondition(line.last == 0x0A && line.dropLast().allSatisfy { $0 != 0x0A }, "a record is one line")
        precondition((try? CaptureCodec.decode(Array(line.dropLast()))) == record, "a record reads back")
    }

    private func checkRequest(_ input: [UInt8]) {
        switch decoder.decode(input) {
        case .request(let request):
            checkNames(request)
            precondition(!Self.hasQuery(request.path), "a path has no query")
        case .command: preconditionFailure("without the operator's key no command is genuine")
        case .refused(_, let path, _, let status):
            precondition(status.code >= 400, "a refusal has an error's status")
            precondition(!Self.hasQuery(path), "what follows a query's sign is not echoed")
        case .deadLetter(let reason):
            precondition(reason != .internal, "no input is a bug of ours")
        }
    }

    private static func hasQuery(_ path: ExactText) -> Bool {
        path.utf8.contains(UInt8(ascii: "?")) || path.utf8.contains(UInt8(ascii: "#"))
    }

    /// Each verb is known by its resource and by the record key that it requires.
    private func checkNames(_ request: Request) {
        let required = request.requiredRecordKey
        switch request.body {
        case .object, .receipt:
            precondition(request.app == 0 && required?.count == 44, "a device's object is known by app and key")
        case .generateChallenge:
            precondition(request.app == 0 && required == nil, "a challenge is made for an app")
        case .debugToken:
            precondition(request.app == 0 && required == nil, "a debug token's record may have any key")
        case .verifyToken:
            precondition(request.resource == .project(number: "123456789012"), "a token belongs to a project")
            precondition((1...250).contains(required?.count ?? 0), "a token is known by its jti")
        }
    }
}

/// Valid inputs of each kind.
enum RequestSeeds {
    private static let path = "v1/projects/123456789012/apps/1:123456789012:ios:0123456789abcdef"
    private static let keyID = "qrvM3e7/ABEiM0RVZneImaq7zN3u/wARIjNEVWZ3iJk="

    /// Of version 1, all else zero.
    private static let artifact = "AQ" + String(repeating: "A", count: 94)

    static let all: [[UInt8]] = [
        #"{"path":"\#(path):verifyAssertion","body":{"assertion":"omlz","keyId":"\#(keyID)","clientDataHash":"\#(keyID)"}}"#,
        #"{"path":"/\#(path):verifyAttestation","body":{"attestation_statement":"o2Nm","key_id":"\#(keyID)","#
            + #""client_data":"aGVsbG8"}}"#,
        #"{"path":"v1beta/oauthClients/client.apps.example.com:verifyAssertion?x=1","body":{}}"#,
        #"{"path":"\#(path):generateAppAttestChallenge"}"#,
        #"{"path":"\#(path):exchangeAppAttestAttestation","body":{"attestation_statement":"o2Nm","#
            + #""challenge":"AAEC","key_id":"\#(keyID)","limited_use":false}}"#,
        #"{"path":"\#(path):exchangeAppAttestAssertion","body":{"artifact":"\#(artifact)","assertion":"omlz","#
            + #""challenge":"AAEC","limitedUse":true}}"#,
        #"{"path":"\#(path):exchangeDebugToken","body":{"debug_token":"5F9E2A0C-1D5B-4D0A-9C35-0A6D8E2B7F41","#
            + #""limited_use":true}}"#,
        #"{"path":"\#(path):verifyReceipt","body":{"keyId":"\#(keyID)","receipt":"MIAGCSqGSIb3DQEHAqCA","#
            + #""exchanged":1790000000000}}"#,
        #"{"path":"\#(path):verifyReceipt","body":{"key_id":"\#(keyID)","receipt":"MIAG","exchanged":null}}"#,
        // {"jti":"abc"} between two empty parts.
        #"{"path":"v1beta/projects/contract-test-1:verifyAppCheckToken","body":{"app_check_token":"#
            + #"".eyJqdGkiOiJhYmMifQ."}}"#,
        #"{"path":"v1/operator:forget","body":{"keyId":"\#(keyID)","keepBan":true,"partition":3,"#
            + #""issuedAt":1700000000000,"nonce":"AAAAAAAAAAAAAAAAAAAAAA==","key":"AAAAAA==","code":"\#(keyID)"}}"#,
        #"{"topic":"t","partition":3,"offset":7,"tstype":"create","ts":1700000000000,"broker":0,"#
            + #""headers":["request-id","a",{"base64":"/w=="},null],"key":"k","payload":"{\"a\":[1,2.5e3,\"\u00e9\"]}"}"#,
        #"{"partition":0,"offset":0,"keyBase64":"/w==","payloadBase64":"_w"}"#,
        #"[[[[[[null,true,false,-0.5E+3,"\ud83d\ude00\n"]]]]]]"#,
        keyID,
    ].map { Array($0.utf8) }
}
