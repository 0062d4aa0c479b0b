internal import AppAttest
internal import Crypto
internal import DeviceLab
internal import Foundation
internal import HTTPClient
internal import JSON
internal import TestKit
internal import Testing

@testable internal import Lab

/// Apple's double over HTTP.
@Suite("lab-apple: the server")
struct LabAppleServerTests {
    private static let ca = LabCA(seed: 1)
    private static let now = EvaluationTime(milliseconds: 1_791_806_400_000)
    private static let device = FakeDevice(ca: ca, appID: "ABCDE12345.com.example.app", seed: 7)
    private static let receipt = device.receipt(.attest, clientDataHash: SHA256.hash([1]).bytes, at: now)

    /// A server whose clock stands, and a client.
    private final class Rig {
        let server: LabAppleServer
        let client: HTTPClient
        private let key: SigningKey

        init(_ fault: String? = nil) throws {
            key = try SigningKey.generate(.p256)
            let known = DeviceCheckKey(team: "ABCDE12345", kid: "K1", publicKey: key.publicKey)
            var settings = LabApple.Settings(keys: [known])
            if let fault { (settings.faults, settings.faultShare) = ([try #require(AppleFault.named(fault))], 1) }
            server = try LabAppleServer(LabApple(ca, settings), port: 0, drips: 3) { now }
            var options = ClientOptions()
            options.headers = ["content-type", "x-b3-traceid", "retry-after", "location"]
            options.mostBodyBytes = 1 << 22
            client = try HTTPClient(options)
        }

        func send(_ body: [UInt8], path: String = "") throws -> ClientEnding.Outcome {
            let claims = #"{"iss":"ABCDE12345","iat":\#(now.milliseconds / 1_000)}"#
            let header = Base64.encodeURL(Array(#"{"alg":"ES256","kid":"K1"}"#.utf8))
            let signed = header + [0x2E] + Base64.encodeURL(Array(claims.utf8))
            let token = signed + [0x2E] + Base64.encodeURL(key.sign(signed))
            client.enqueue(
                ClientCall(
                    tag: 1,
                    method: .post,
                    url: server.url + path,
                    headers: [(name: "Authorization", value: String(decoding: token, as: UTF8.self))],
                    body: body
                )
            )
            var (endings, watch): ([ClientEnding], _) = ([], StandstillWatch<Int>())
            while endings.isEmpty, !watch.isStill(0) { endings = client.poll(milliseconds: 50) }
            return try #require(endings.first).outcome
        }

        func answer(_ body: [UInt8]) throws -> ClientAnswer {
            guard case .answered(let answer) = try send(body) else { throw NoAnswer() }
            return answer
        }
    }

    private struct NoAnswer: Error {}

    @Test func `a receipt that is sent in Base64 is exchanged for one with the same leaf and field 5`() throws {
        let rig = try Rig()
        let answer = try rig.answer(Base64.encode(Self.receipt))
        #expect(answer.status == 200 && answer.value("content-type") == Array("base64".utf8))
        #expect(answer.value("x-b3-traceid")?.count == 16)
        let receipt = try #require(Base64.decode(answer.body))
        let (old, new) = (ReceiptContent(unverified: Self.receipt), ReceiptContent(unverified: receipt))
        #expect(new?.leaf == old?.leaf && new?.token == old?.token && new?.type == .receipt)
        #expect(new?.createdAt == Self.now && new?.riskMetric == "1")
        // The Not Before of the new one is a day away.
        let early = try rig.answer(Base64.encode(receipt))
        #expect(early.status == 304 && early.body.isEmpty)
        #expect(rig.server.account.statuses == [200: 1, 304: 1])
    }

    @Test func `raw bytes are a bad payload, and another path is not found`() throws {
        let rig = try Rig()
        let raw = try rig.answer(Self.receipt)
        #expect(raw.status == 400 && raw.body == Array("Bad Payload".utf8))
        guard case .answered(let answer) = try rig.send(Base64.encode(Self.receipt), path: "s") else {
            throw NoAnswer()
        }
        #expect(answer.status == 404)
    }

    @Test func `a body beyond all receipts is refused`() throws {
        let rig = try Rig()
        #expect(try rig.answer([UInt8](repeating: 0x41, count: 100_000)).status == 413)
        #expect(try rig.answer(Base64.encode(Self.receipt)).status == 200)
    }

    @Test(arguments: AppleFault.allCases.filter { !["dripping", "cut"].contains($0.name) })
    func `an answer with a fault arrives as it was made`(fault: AppleFault) throws {
        let answer = try Rig(fault.name).answer(Base64.encode(Self.receipt))
        if case .status(let status) = fault.result {
            #expect(answer.status == status)
        } else {
            #expect(answer.status == 200)
        }
        #expect((answer.value("retry-after") != nil) == (fault.name == "throttled-retry-after"))
        #expect((answer.value("location") != nil) == (fault.name == "redirect"))
        if fault.name == "megabyte" { #expect(answer.body.count > 1 << 20) }
        if fault.name == "html" { #expect(answer.body.starts(with: "<html>".utf8)) }
    }

    @Test func `an answer that drips is whole in the end`() throws {
        let answer = try Rig("dripping").answer(Base64.encode(Self.receipt))
        #expect(answer.status == 200)
        #expect(Base64.decode(answer.body).flatMap { ReceiptContent(unverified: $0) }?.type == .receipt)
    }

    @Test func `an answer that is cut breaks the call`() throws {
        let outcome = try Rig("cut").send(Base64.encode(Self.receipt))
        guard case .failed(let failure) = outcome else { throw NoAnswer() }
        #expect(failure.kind == .broken)
    }
}
