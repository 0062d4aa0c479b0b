import Foundation
import HTTP
import HTTPClient
import JSON
import TestKit
import Testing
import Threads

@testable import Lab

/// `simulate --live --via` against a gateway that answers by itself.
@Suite("simulate: stock clients over HTTP")
struct GatewaySimulateTests {
    private static let load = ["--devices", "4", "--records", "60", "--live", "--via"]

    private func run(
        _ stub: StubGateway,
        _ more: [String] = [],
        in folder: SimulationFolder? = nil
    ) throws -> (code: Int32, transcript: Transcript) {
        let folder = try folder ?? SimulationFolder.configured()
        // No broker is known.
        try? FileManager.default.removeItem(atPath: folder.file("config/kafka.properties"))
        return folder.simulate(Self.load + ["http://127.0.0.1:\(stub.port)/"] + more)
    }

    @Test func `clients make their calls and get what is theirs, and the account has each verb`() throws {
        let folder = try SimulationFolder.configured()
        try folder.write("s3cret\n", to: "secret")
        let stub = try StubGateway()
        let (code, transcript) = try run(stub, ["--verifier-secret", folder.file("secret")], in: folder)
        #expect(code == 0, "\(transcript.output) \(transcript.error)")
        #expect(transcript.output.contains("60 calls of 4 stock clients"))
        #expect(transcript.output.contains("answers: 60 with 200") && transcript.output.contains("refused: none"))
        #expect(transcript.output.contains("4 connections; no response went to another caller"), "\(transcript.output)")
        let calls = stub.calls.filter { !$0.target.elementsEqual("/healthz".utf8) }
        #expect(calls.count == 60)
        for verb in ["Challenge", "Attestation", "Assertion", "verifyAppCheckToken"] {
            #expect(calls.contains { String(decoding: $0.target, as: UTF8.self).hasSuffix(verb) }, "\(verb)")
        }
        for call in calls {
            let isCheck = String(decoding: call.target, as: UTF8.self).hasSuffix(":verifyAppCheckToken")
            #expect(call.values("authorization") == (isCheck ? [Array("Bearer s3cret".utf8)] : []))
            #expect(call.values("content-type").isEmpty == call.body.isEmpty)
            #expect(call.values("x-installation-id").isEmpty == isCheck)
        }
        let said = transcript.output + transcript.error
        #expect(!said.contains("s3cret") && !said.contains(StubGateway.header), "secrets are not shown")
    }

    @Test func `without a secret no token is checked, and that is said`() throws {
        let stub = try StubGateway()
        let (code, transcript) = try run(stub)
        #expect(code == 0 && transcript.error.contains("without --verifier-secret"))
        #expect(!stub.calls.contains { String(decoding: $0.target, as: UTF8.self).hasSuffix("AppCheckToken") })
    }

    @Test(
        arguments: [
            (StubGateway.Fault.sameToken, "two calls got the same token"),
            (.foreignArtifact, "an artifact is of another key"), (.sameID, "the same X-Request-Id"),
        ]
    )
    func `an answer of another call ends the run with exit code 1`(fault: StubGateway.Fault, words: String) throws {
        let (code, transcript) = try run(StubGateway(fault))
        #expect(code == 1 && transcript.error.contains("answers belong to another call; the first: "))
        #expect(transcript.error.contains(words), "\(transcript.error)")
    }

    @Test func `clients that are all silent for a day are not waited for`() throws {
        let (code, transcript) = try run(StubGateway(.unknownApp))
        #expect(code == 1 && transcript.error.contains("every stock client keeps silent for 86,"))
        #expect(transcript.error.contains("4 404 NOT_FOUND"), "\(transcript.error)")
    }

    @Test func `a gateway that is away is named at once`() throws {
        let folder = try SimulationFolder.configured()
        let (code, transcript) = folder.simulate(Self.load + ["http://127.0.0.1:1"])
        #expect(code == 1 && transcript.error.contains("http://127.0.0.1:1 does not answer ("))
        #expect(transcript.error.filter(\.isNewline).count == 2, "a note on secrets, and the fault")
    }

    @Test(arguments: ["", "two\nlines\n", "a blank", "bell\u{7}"])
    func `a file that holds no secret ends with exit code 2`(text: String) throws {
        let folder = try SimulationFolder.configured()
        try folder.write(text, to: "secret")
        let (code, transcript) = folder.simulate(
            Self.load + ["http://127.0.0.1:1", "--verifier-secret", folder.file("secret")]
        )
        #expect(code == 2 && transcript.error.contains("is not a secret"), "\(transcript.error)")
    }

    @Test(
        arguments: [
            ("http://127.0.0.1:8080", "http://127.0.0.1:8080"), ("https://h/", "https://h"),
            ("HTTP://h/p/", "http://h/p"),
            ("http://[::1]:8", "http://[::1]:8"), ("ftp://h", nil), ("h", nil), ("http://", nil), ("http:///x", nil),
            ("http://user@h", nil), ("http://h?x", nil), ("http://h#x", nil), ("http://h h", nil),
            ("http://h\r\nX: y", nil),
        ] as [(String, String?)]
    )
    func `an address has a scheme, a host and perhaps a path`(url: String, base: String?) {
        #expect(GatewayTarget.base(url) == base)
    }

    @Test(
        arguments: [
            (#"{"error":{"code":403,"message":"m","status":"PERMISSION_DENIED"}}"#, "403 PERMISSION_DENIED"),
            (#"{"error":{"status":"no name"}}"#, "403"), (#"{"error":{"status":3}}"#, "403"), ("<html>", "403"),
            ("", "403"),
        ]
    )
    func `a refusal is counted by its status and name`(body: String, reason: String) {
        #expect(HTTPStockLink.reason(ClientAnswer(status: 403, body: Array(body.utf8))) == reason)
    }

    @Test func `a sample shows no more than the beginnings of long texts`() {
        let long = String(repeating: "a", count: 41)
        let json = #"{"token":"\#(long)","ttl":"3600s","limited_use":false}"#
        let shown = HTTPSample.shortened(Array(json.utf8))
        #expect(shown == #"{"token":"aaaaaa… (41 characters)","ttl":"3600s","limited_use":false}"#)
    }
}

/// A gateway without topics behind it.
final class StubGateway {
    enum Fault: CaseIterable { case sameToken, foreignArtifact, sameID, unknownApp }

    static let header = "h34d3r"

    private let server: HTTPCallServer
    private let answers: Locked<Answers>

    init(_ fault: Fault? = nil) throws {
        let answers = Locked(Answers(fault: fault))
        self.answers = answers
        server = try HTTPCallServer(address: "127.0.0.1", port: 0) { call, responder in
            responder.answer(answers.withLock { $0.answer(call) })
        }
    }

    var port: UInt16 { server.port }
    var calls: [HTTPCall] { answers.withLock { $0.calls } }

    private struct Answers {
        let fault: Fault?
        var calls: [HTTPCall] = []
        private var used: Set<String> = []

        init(fault: Fault?) { self.fault = fault }

        mutating func answer(_ call: HTTPCall) -> HTTPReply {
            calls.append(call)
            if fault == .unknownApp {
                return HTTPReply(status: 404, body: Array(#"{"error":{"status":"NOT_FOUND"}}"#.utf8))
            }
            let id = fault == .sameID ? "one" : "id-\(calls.count)"
            let body = (try? body(String(decoding: call.target, as: UTF8.self), call.body)) ?? "no JSON"
            return HTTPReply(status: 200, headers: [("X-Request-Id", id)], body: Array(body.utf8))
        }

        private mutating func body(_ path: String, _ body: [UInt8]) throws -> String {
            let root = try JSONDocument(parsing: body.isEmpty ? Array("{}".utf8) : body).root
            let number = fault == .sameToken ? 0 : calls.count
            let app = path.split(separator: "/").last.map { $0.split(separator: ":").dropLast().joined(separator: ":") }
            let claims = #"{"sub":"\#(app ?? "")","jti":"\#(number)"}"#
            let payload = String(decoding: Base64.encodeURL(Array(claims.utf8)), as: UTF8.self)
            let token = #""token":"\#(StubGateway.header).\#(payload).s","ttl":"3600s""#
            switch path.split(separator: ":").last {
            case "generateAppAttestChallenge": return #"{"challenge":"\#(text([1, 2, 3] + number16))","ttl":"300s"}"#
            case "exchangeAppAttestAttestation":
                let key = root["key_id"]?.stringBytes.flatMap { Base64.decode($0) } ?? []
                let own = fault == .foreignArtifact ? [UInt8](repeating: 9, count: 32) : key
                let artifact = text([1] + own + [UInt8](repeating: 0, count: 70))
                return #"{"artifact":"\#(artifact)","appCheckToken":{\#(token)}}"#
            case "exchangeAppAttestAssertion": return "{\(token)}"
            case "verifyAppCheckToken":
                let presented = root["app_check_token"]?.string ?? ""
                return used.insert(presented).inserted ? "{}" : #"{"alreadyConsumed":true}"#
            default: return "{}"
            }
        }

        private var number16: [UInt8] { [UInt8(calls.count >> 8 & 255), UInt8(calls.count & 255), 0] }

        private func text(_ bytes: [UInt8]) -> String { String(decoding: Base64.encode(bytes), as: UTF8.self) }
    }
}
