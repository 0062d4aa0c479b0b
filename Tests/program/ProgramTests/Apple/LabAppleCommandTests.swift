internal import AppAttest
internal import BrokerKit
internal import Crypto
internal import DeviceLab
internal import Foundation
internal import HTTPClient
internal import JSON
internal import Risk
internal import TestKit
internal import Testing

@testable internal import Commands
@testable internal import Lab

@Suite("lab-apple", .waiting)
struct LabAppleCommandTests {
    private static let key = Result { try SigningKey.generate(.p256) }

    /// A folder with a lab authority, a team's key, and its public half.
    private static func folder() throws -> SimulationFolder {
        let (folder, key) = (try SimulationFolder.configured(), try key.get())
        try folder.write(String(decoding: key.pem, as: UTF8.self), to: "private.pem")
        guard case .p256(let point) = key.publicKey.parameters else { throw CancellationError() }
        let info = try #require(Base64.decode(Array("MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE".utf8)))
        let der = Data(info.dropLast() + point.x963)
        let text = der.base64EncodedString(options: .lineLength64Characters)
        try folder.write("-----BEGIN PUBLIC KEY-----\n\(text)\n-----END PUBLIC KEY-----\n", to: "public.pem")
        return folder
    }

    private static func answer(_ url: String, _ receipt: [UInt8]) throws -> ClientAnswer? {
        let own = try #require(ProviderKey(team: "ABCDE12345", kid: "K1", key: try key.get()))
        let bearer = ProviderToken(own, at: EvaluationTime(milliseconds: timeOfDay())).text
        let client = try HTTPClient()
        let headers = [(name: "Authorization", value: "Bearer \(String(decoding: bearer, as: UTF8.self))")]
        client.enqueue(ClientCall(tag: 1, method: .post, url: url, headers: headers, body: Base64.encode(receipt)))
        var (endings, watch): ([ClientEnding], _) = ([], StandstillWatch<Int>())
        while endings.isEmpty, !watch.isStill(0) { endings = client.poll(milliseconds: 50) }
        guard case .answered(let answer)? = endings.first?.outcome else { return nil }
        return answer
    }

    @Test(.enabled(if: WorkerBinary.url != nil), arguments: ["private.pem", "public.pem"])
    func `it serves receipts of its authority's devices until SIGTERM, and says what it answered`(
        file: String
    ) throws {
        let folder = try Self.folder()
        let program = try folder.start("lab-apple", ["--key", "ABCDE12345:K1:\(folder.file(file))"])
        #expect(program.says("/v1/attestationData for production"), "\(program.error)")
        let url = try #require(program.output.split(separator: " ").first { $0.hasPrefix("http://127.0.0.1:") })
        let ca = try LabCA(exported: try folder.bytes("config/lab-authority.json"))
        let device = FakeDevice(ca: ca, appID: "ABCDE12345.com.example.app", seed: 7)
        let now = EvaluationTime(milliseconds: timeOfDay())
        let receipt = device.receipt(.attest, clientDataHash: SHA256.hash([1]).bytes, at: now)
        let answer = try #require(try Self.answer(String(url), receipt))
        #expect(answer.status == 200, "\(String(decoding: answer.body, as: UTF8.self))")
        #expect(Base64.decode(answer.body).flatMap { ReceiptContent(unverified: $0) }?.riskMetric == "1")
        #expect(try Self.answer(String(url), Array(receipt.dropLast()))?.status == 400)
        program.signal(SIGTERM)
        #expect(program.waitForEnd() == .exit(0) && program.error.isEmpty, "\(program.error)")
        #expect(program.output.contains("answered 2 calls: 1 with 200, 1 with 400; 0 answers had a fault"))
    }

    @Test(.enabled(if: WorkerBinary.url != nil))
    func `a port that is taken ends it with one line and exit code 1`() throws {
        let folder = try Self.folder()
        let apple = LabApple(LabCA(seed: 1), LabApple.Settings(keys: []))
        let server = try LabAppleServer(apple, port: 0) { EvaluationTime(milliseconds: 0) }
        let port = try #require(server.url.split(separator: ":").last?.prefix { $0.isNumber })
        let key = "ABCDE12345:K1:\(folder.file("public.pem"))"
        let program = try folder.start("lab-apple", ["--key", key, "--port", String(port)])
        #expect(program.waitForEnd() == .exit(1))
        #expect(program.saysOneLine("attest-worker: nothing can listen on 127.0.0.1, port \(port)"))
        server.stop()
    }

    @Test func `the account names each status`() {
        var account = LabApple.Account()
        #expect(LabAppleCommand.lines(account) == ["answered 0 calls; 0 answers had a fault"])
        (account.calls, account.faults, account.statuses) = (3, 1, [404: 1, 200: 2])
        #expect(LabAppleCommand.lines(account) == ["answered 3 calls: 2 with 200, 1 with 404; 1 answer had a fault"])
    }
}
