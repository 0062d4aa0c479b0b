internal import AppAttest
internal import Crypto
internal import DeviceLab
internal import JSON
internal import Settings
internal import TestKit
internal import Testing

@testable internal import Commands
@testable internal import HTTPClient
@testable internal import Lab
@testable internal import Refresher

@Suite("exchange-receipt")
struct ExchangeReceiptTests {
    private static let ca = LabCA(seed: 1)
    private static let appID = "ABCDE12345.com.example.app"
    private static let device = FakeDevice(ca: ca, appID: appID, seed: 7)
    private static let hash = SHA256.hash([1]).bytes

    private static func receipt(_ type: ReceiptType = .attest, hoursAgo: Int64 = 30) -> [UInt8] {
        let time = EvaluationTime(milliseconds: timeOfDay() - hoursAgo * 3_600_000)
        return device.receipt(type, clientDataHash: hash, at: time)
    }

    /// Apple's double, and a configuration that names it.
    private struct Rig {
        let server: LabAppleServer
        let directory: KeyDirectory
        let key: SigningKey

        init(_ fault: String? = nil, team: String = "ABCDE12345", drips: Int = 3) throws {
            key = try SigningKey.generate(.p256)
            let known = DeviceCheckKey(team: "ABCDE12345", kid: "K1", publicKey: key.publicKey)
            var apple = LabApple.Settings(keys: [known])
            if let fault { (apple.faults, apple.faultShare) = ([try #require(AppleFault.named(fault))], 1) }
            server = try LabAppleServer(LabApple(ca, apple), port: 0, drips: drips) {
                EvaluationTime(milliseconds: timeOfDay())
            }
            // Files of other keys are nowhere: to open one would be a fault.
            directory = try KeyDirectory(
                """
                "risk":{"keys":[{"team":"\(team)","kid":"K1","file":"k.p8"}],
                        "endpoints":{"production":"\(server.url)","development":"http://127.0.0.1:1/"}},
                "signingKeys":[{"kid":"s","algorithm":"ES256","file":"gone.pem"}],
                "sealingKeys":[{"id":"s","file":"gone"}],"challenges":{"keys":[{"id":"c","file":"gone"}]}
                """,
                app: #""appleAppIds":["\#(appID)"]"#
            )
            let roots = #"{"attestation":["root.pem"],"receipt":["receipt-root.pem"]}"#
            try directory.edit("worker.json", #"{"attestation":["root.pem"]}"#, roots)
            try directory.write("root.pem", ca.attestationAnchorPEM)
            try directory.write("receipt-root.pem", ca.receiptAnchorPEM)
            try directory.write("k.p8", key.pem)
        }

        func run(_ receipt: [UInt8], _ options: [String] = []) throws -> (code: Int32, transcript: Transcript) {
            try directory.write("receipt", receipt)
            return Transcript.run(
                ["exchange-receipt", "--config", directory.path] + options + [directory.file("receipt")]
            )
        }
    }

    @Test(arguments: [false, true])
    func `a receipt is exchanged, explained and written`(isBase64: Bool) throws {
        let (rig, receipt) = (try Rig(), Self.receipt())
        let sent = isBase64 ? Base64.encode(receipt) + [0x0A] : receipt
        let (code, transcript) = try rig.run(sent, ["--output", rig.directory.file("new")])
        #expect(code == 0 && transcript.error.isEmpty, "\(transcript.error)\(transcript.output)")
        let text = transcript.output
        #expect(text.contains("read as \(isBase64 ? "Base64" : "its bytes"), of \(Self.appID) in production"))
        #expect(text.contains("status 200 after ") && text.contains("  content-type: base64"))
        #expect(text.contains("  x-b3-traceid: ") && text.contains("\noutcome: verified\n"))
        #expect(text.contains("receipt.riskMetric") && text.contains("no check that could be judged failed"))
        let new = try rig.directory.bytes("new")
        #expect(ReceiptContent(unverified: new)?.riskMetric == "1")
        #expect(try rig.directory.mode("new") == 0o600)
        try Self.checkSecrets(transcript, rig, [receipt, new])
    }

    @Test(
        arguments: [
            ("not-modified", 0, "status 304", "early"), ("incorrect-environment", 1, "body: Incorrect Environment", ""),
            ("bad-payload", 1, "body: Bad Payload", "bad-payload"), ("not-found", 1, "status 404", "absent"),
            ("token-expired", 1, "status 401", "unauthorized"), ("throttled", 1, "status 429", "throttled"),
            ("throttled-retry-after", 1, "  retry-after: 2", "throttled"),
            ("unavailable", 1, "status 503", "unavailable"),
            ("redirect", 1, "  location: /v1/elsewhere", "unexpected"), ("accepted", 1, "status 202", "unexpected"),
            ("html", 1, "status 200", "invalid-answer: the body is not-base64"),
            ("megabyte", 1, "status 200", "invalid-answer: the body is too-long"),
            ("cut", 1, "no answer after ", "transport"), ("dripping", 0, "status 200", "verified"),
            ("other-token", 1, "status 200", "invalid-answer: receipt:token-mismatch"),
            ("attest", 1, "status 200", "invalid-answer: receipt:type"),
        ] as [(String, Int32, String, String)]
    )
    func `each answer is told, and 0 is for a successor and 304`(
        fault: String,
        code: Int32,
        words: String,
        outcome: String
    ) throws {
        let (rig, receipt) = (try Rig(fault), Self.receipt())
        let result = try rig.run(receipt)
        #expect(result.code == code, "\(result.transcript.output)\(result.transcript.error)")
        #expect(result.transcript.output.contains(words), "\(result.transcript.output)")
        #expect(result.transcript.output.contains("outcome: \(outcome)"), "\(result.transcript.output)")
        #expect(rig.server.account.calls == 1)
        try Self.checkSecrets(result.transcript, rig, [receipt])
    }

    @Test func `before its Not Before a receipt is sent only with --early`() throws {
        let (rig, receipt) = (try Rig(), Self.receipt(.receipt, hoursAgo: 1))
        let (code, transcript) = try rig.run(receipt)
        #expect(code == 1 && transcript.error.contains("the receipt may not be exchanged before "))
        #expect(rig.server.account.calls == 0)
        let early = try rig.run(receipt, ["--early"])
        #expect(early.code == 0 && early.transcript.output.contains("outcome: early"))
    }

    @Test(arguments: [([], 200), (["--bearer"], 200), (["--token-age", "3000"], 200), (["--token-age", "4000"], 401)])
    func `the token's form and age are those asked for`(options: [String], status: Int) throws {
        let rig = try Rig()
        let (code, transcript) = try rig.run(Self.receipt(), options)
        #expect(transcript.output.contains("status \(status) after ") && code == (status == 200 ? 0 : 1))
    }

    @Test func `the other environment's host is called when asked for, with a warning`() throws {
        let (code, transcript) = try Rig().run(Self.receipt(), ["--environment", "development"])
        #expect(code == 1 && transcript.output.contains("no answer after "))
        #expect(transcript.error.contains("warning: the receipt is of production and goes to development"))
    }

    @Test func `what repeats the call is not shown`() throws {
        let sent = Array("eyJhbGciOiJFUzI1NiIsImtpZCI6IksxIn0.abcdefgh".utf8)
        #expect(ExchangeView.repeats(Array("token: eyJhbGciOiJFUzI1NiI".utf8), [sent]))
        #expect(!ExchangeView.repeats(Array("The token is not a JWT with ES256".utf8), [sent]))
    }

    @Test(arguments: [
        ("x-eyjhbgcioijfuzi1niisimtpzci6iksxin0", "1"), ("x-echo", "eyJhbGciOiJFUzI1NiIsImtpZCI6IksxIn0.abcdefgh"),
        ("set-cookie", "session=eyJhbGciOiJub25lIn0.e30."), ("x-b.eyjhbgcioijub25lin0.e30.", ""),
        ("x-\u{1B}[2J\u{202E}", "1"),
    ])
    func `no header's name or value shows what was sent, a token, or what moves a cursor`(name: String, value: String) {
        let answer = ClientAnswer(status: 400, headers: [(name, Array(value.utf8)), ("via", [0x31])], body: [])
        let ending = ClientEnding(tag: 1, outcome: .answered(answer), microseconds: 1)
        let sent = Array("eyJhbGciOiJFUzI1NiIsImtpZCI6IksxIn0.abcdefgh".utf8)
        let view = ExchangeView(ExchangeEnding(ending, at: EvaluationTime(milliseconds: 0)), sent: [sent])
        #expect(!view.text.lowercased().contains("eyj") && view.text.contains("\n  via: 1"), "\(view.text)")
        #expect(view.text.unicodeScalars.allSatisfy { $0.isVisible || $0 == "\n" })
    }

    @Test func `a file that is no receipt, a prefix without a key and a taken name end with 2`() throws {
        let rig = try Rig()
        let junk = try rig.run([0x30, 0x00])
        #expect(junk.code == 2 && junk.transcript.error.contains("is neither a receipt nor the Base64 of one"))
        let taken = try rig.run(Self.receipt(), ["--output", rig.directory.file("k.p8")])
        #expect(taken.code == 2 && taken.transcript.error.contains("already exists and is not overwritten"))
        let nowhere = try rig.run(Self.receipt(), ["--output", rig.directory.file("absent/new")])
        #expect(nowhere.code == 2 && nowhere.transcript.error.contains("nothing can be written in "))
        let other = try Rig(team: "OTHERTEAM1").run(Self.receipt())
        #expect(other.code == 2 && other.transcript.error.contains("no key serves the receipt's App ID \(Self.appID)"))
        #expect(rig.server.account.calls == 0)
    }

    /// No part of a receipt, a token or a key stands in what was printed.
    private static func checkSecrets(_ transcript: Transcript, _ rig: Rig, _ receipts: [[UInt8]]) throws {
        let text = transcript.output + transcript.error
        for receipt in receipts {
            let base64 = String(decoding: Base64.encode(receipt), as: UTF8.self)
            #expect(!text.contains(base64.prefix(60)) && !text.contains(base64.suffix(60)))
        }
        let key = String(decoding: rig.key.pem, as: UTF8.self).split(separator: "\n")[1]
        #expect(!text.contains("eyJ") && !text.contains(key) && !text.contains("PRIVATE"))
    }
}
