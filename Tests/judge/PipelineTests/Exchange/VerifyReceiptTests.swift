import AppAttest
import AppCheck
import DeviceLab
import JSON
import Pipeline
import SimulationKit
import Streams
import TestKit
import Testing

/// verifyReceipt: what Apple answers moves a key's risk metric, and nothing else.
@Suite("verifyReceipt")
struct VerifyReceiptTests {
    private static let hash = ExchangeKit.clientDataHash
    private static let day: Int64 = 86_400_000

    private static func fresh(_ adjust: (inout RegisteredApp) -> Void = { _ in }) throws -> (ExchangeRig, FakeDevice) {
        var settings = try ExchangeKit.settings {
            $0.risk.mode = .report
            adjust(&$0)
        }
        settings.hasReceipts = true
        return try ExchangeRig.fresh(settings)
    }

    private static func attested(
        _ adjust: (inout RegisteredApp) -> Void = { _ in }
    ) throws -> (ExchangeRig, FakeDevice) {
        let (rig, device) = try fresh(adjust)
        #expect(try rig.send(.verifyAttestation(of: device, at: rig.time - 1000)).verdict == "accepted")
        return (rig, device)
    }

    /// Apple's answer, made at a time.
    private static func receipt(of device: FakeDevice, at time: Int64, _ fault: ReceiptFault? = nil) -> [UInt8] {
        device.receipt(.receipt, clientDataHash: hash, at: EvaluationTime(milliseconds: time), fault: fault)
    }

    private static func header(_ name: String, of record: OutboundRecord?) -> String? {
        record?.headers.first { $0.name == Array(name.utf8) }?.value.map { String(decoding: $0, as: UTF8.self) }
    }

    @Test func `an accepted receipt moves the metric alone, and is told in result, event and topic`() throws {
        let (rig, device) = try Self.attested()
        let before = try #require(rig.key(device))
        let receipt = Self.receipt(of: device, at: rig.time)
        let answers = try rig.send(ExchangeRequest.receipt(receipt, of: device))
        #expect(answers.verdict == "accepted" && !answers.isDuplicate)
        let after = try #require(rig.key(device))
        let metric = try #require(after.risk)
        #expect(metric.value == UInt16(1 + device.seed % 3))
        #expect(metric.createdAt == UInt32(rig.time / 1000))
        var expected = before
        expected.risk = metric
        #expect(after == expected, "neither counter nor last request")
        let evidence = answers.result?["evidence"]
        #expect(evidence?["receipt"]?["riskMetric"]?.string == "\(metric.value)")
        #expect(evidence?["receipt"]?["type"]?.string == "RECEIPT" && evidence?["receipt"]?["notBefore"] != nil)
        #expect(evidence?["counter"]?.integer == 0 && evidence?["risk"] == nil)
        #expect(answers.eventName == "AppAttestRisk")
        #expect(answers.event?["metric"]?.integer == Int64(metric.value) && answers.event?["previousMetric"] == nil)
        let written = answers.receipts
        #expect(written.map(\.value) == [receipt] && written.first?.key == device.keyID.recordKey)
        #expect(Self.header("type", of: written.first) == "RECEIPT")
        #expect(Self.header("not-before", of: written.first) == "\(rig.time + Self.day)")
        try rig.restart()
        #expect(rig.key(device)?.risk == metric, "the ledger has it")
    }

    @Test func `the kept receipt again is a duplicate, whatever its request, and writes nothing`() throws {
        let (rig, device) = try Self.attested()
        let request = ExchangeRequest.receipt(Self.receipt(of: device, at: rig.time), of: device)
        _ = try rig.send(request.with(id: "one"))
        for id in ["one", "two"] {
            let again = try rig.send(request.with(id: id))
            #expect(again.verdict == "accepted" && again.isDuplicate)
            #expect(again.receipts.isEmpty && again.event == nil)
        }
    }

    @Test func `receipts are accepted in their order alone, and an event names the metric before`() throws {
        let (rig, device) = try Self.attested()
        let times = (1...3).map { rig.time + $0 * 1000 }
        let receipts = times.map { Self.receipt(of: device, at: $0) }
        rig.time += 10_000
        #expect(try rig.send(ExchangeRequest.receipt(receipts[1], of: device)).verdict == "accepted")
        let older = try rig.send(ExchangeRequest.receipt(receipts[0], of: device))
        #expect(older.reason == "receipt:superseded" && older.receipts.isEmpty && older.code == 403)
        #expect(rig.key(device)?.risk?.createdAt == UInt32(times[1] / 1000))
        let chain = ExchangeRequest.receipt(receipts[2], of: device, exchanged: "\(times[0])")
        #expect(try rig.send(chain).reason == "receipt:superseded", "a second chain")
        let next = try rig.send(ExchangeRequest.receipt(receipts[2], of: device, exchanged: "\(times[1])"))
        #expect(next.verdict == "accepted" && next.event?["previousMetric"] != nil)
        #expect(rig.key(device)?.risk?.createdAt == UInt32(times[2] / 1000))
    }

    /// An empty receipt is no receipt: its request is malformed. A day is allowed, not five minutes.
    private static let faults = ReceiptFault.allCases.filter {
        $0.applies(to: .receipt, isAlone: true) && $0.name != "empty" && $0.expected != .tooOld
    }

    @Test(arguments: faults)
    func `a receipt with one fault is refused for it, and changes nothing`(fault: ReceiptFault) throws {
        let (rig, device) = try Self.attested()
        let before = rig.key(device)
        let answers = try rig.send(ExchangeRequest.receipt(Self.receipt(of: device, at: rig.time, fault), of: device))
        #expect(answers.reason == Refusal.receipt(fault.expected).code)
        #expect(rig.key(device) == before && answers.receipts.isEmpty && answers.event == nil)
    }

    @Test(
        arguments: [
            (nil, nil), ("", nil), ("x", nil), ("-1", nil), ("1.5", nil), ("1234567890", nil), (" 7", nil), ("0", 0),
            ("7", 7), ("65535", 65_535), ("65536", 65_535), ("999999999", 65_535), ("000000012", 12),
        ] as [(String?, UInt16?)]
    )
    func `a metric has 1 to 9 digits, and 65,535 stands for more`(text: String?, metric: UInt16?) throws {
        let (rig, device) = try Self.attested()
        let sent = try #require(ReceiptContent(unverified: Self.receipt(of: device, at: rig.time)))
        let now = EvaluationTime(milliseconds: rig.time)
        var facts = ReceiptFacts(refreshing: sent, environment: .production, metric: 1, at: now)
        facts.riskMetric = text.map { Array($0.utf8) }
        let answers = try rig.send(.receipt(ExchangeKit.ca.receipt(facts), of: device))
        #expect(answers.summary == (metric == nil ? "receipt:metric" : "accepted"))
        #expect(rig.key(device)?.risk?.value == metric)
        #expect(answers.event?["metric"]?.integer == metric.map { Int64($0) })
    }

    @Test func `an empty receipt is a malformed request`() throws {
        let (rig, device) = try Self.attested()
        #expect(try rig.send(ExchangeRequest.receipt([], of: device)).reason == "malformed-request")
    }

    @Test func `a receipt of a day ago is accepted, and an older one is too old`() throws {
        let (rig, device) = try Self.attested()
        let receipt = Self.receipt(of: device, at: rig.time)
        rig.time += Self.day + 1000
        #expect(try rig.send(ExchangeRequest.receipt(receipt, of: device)).reason == "receipt:too-old")
        rig.time -= 2000
        #expect(try rig.send(ExchangeRequest.receipt(receipt, of: device)).verdict == "accepted")
    }

    @Test func `another key's receipt, and the one that the attestation brought, are refused`() throws {
        let (rig, device) = try Self.attested()
        let other = FakeDevice(ExchangeKit.model, seed: 4)
        _ = try rig.register(other)
        let foreign = Self.receipt(of: other, at: rig.time)
        #expect(try rig.send(ExchangeRequest.receipt(foreign, of: device)).reason == "receipt:key-mismatch")
        let attest = device.receipt(.attest, clientDataHash: Self.hash, at: EvaluationTime(milliseconds: rig.time))
        #expect(try rig.send(ExchangeRequest.receipt(attest, of: device)).reason == "receipt:type")
        #expect(rig.key(device)?.risk == nil && rig.key(other)?.risk == nil)
    }

    @Test(arguments: [nil, "receipt:app-id-mismatch", "receipt:environment-mismatch"])
    func `a receipt is of the key's own App ID and environment, whatever else its app accepts`(fault: String?) throws {
        let otherAppID = "ABCDE12345.com.example.other"
        let (rig, device) = try Self.attested {
            $0.expectations.appIDs.append(AppID(otherAppID))
            $0.expectations.environments = [.production, .development]
        }
        let model = DeviceModel(
            ca: ExchangeKit.ca,
            appID: fault == "receipt:app-id-mismatch" ? otherAppID : ExchangeKit.appleAppID,
            environment: fault == "receipt:environment-mismatch" ? .development : .production
        )
        // The same key in an app, or an environment, that its app accepts as well.
        let other = FakeDevice(model, seed: device.seed)
        let answers = try rig.send(ExchangeRequest.receipt(Self.receipt(of: other, at: rig.time), of: device))
        #expect(answers.summary == fault ?? "accepted")
        #expect((rig.key(device)?.risk == nil) == (fault != nil) && answers.receipts.isEmpty == (fault != nil))
    }

    @Test func `after a second attestation a receipt of the first one is superseded, before any metric is known`()
        throws
    {
        let (rig, device) = try Self.attested()
        let first = rig.time - 1000
        rig.time += 60_000
        let second = rig.time - 1000
        let again = ExchangeRequest.verifyAttestation(of: device, hash: [UInt8](repeating: 8, count: 32), at: second)
        #expect(try rig.send(again).verdict == "accepted")
        for (attested, summary) in [(first, "receipt:superseded"), (second, "accepted")] {
            let sent = try #require(ReceiptContent(unverified: Self.receipt(of: device, at: attested)))
            let now = EvaluationTime(milliseconds: rig.time)
            let facts = ReceiptFacts(refreshing: sent, environment: .production, metric: 2, at: now)
            #expect(try rig.send(.receipt(ExchangeKit.ca.receipt(facts), of: device)).summary == summary)
            #expect((rig.key(device)?.risk == nil) == (attested == first))
        }
    }

    @Test func `a key that was imported without a usable point takes no receipt and keeps its record`() throws {
        let (rig, device) = try Self.fresh()
        var record = KeyRecord.sample(nil, counter: 7)
        record.unusableKey = [4, 4, 4]
        let (key, value) = LedgerCodec.encode(.key(device.keyID, record))
        rig.streams.addLedger(key: key, value: value)
        try rig.restart()
        let answers = try rig.send(ExchangeRequest.receipt(Self.receipt(of: device, at: rig.time), of: device))
        #expect(answers.reason == "key-invalid" && answers.receipts.isEmpty)
        #expect(!answers.outputs.contains { $0.stream == .ledger && $0.key == key })
    }

    @Test func `a key that is not known gets a tombstone, and a banned one nothing`() throws {
        let (rig, device) = try Self.attested()
        let stranger = FakeDevice(ExchangeKit.model, seed: 9)
        let unknown = try rig.send(ExchangeRequest.receipt(Self.receipt(of: stranger, at: rig.time), of: stranger))
        #expect(unknown.reason == "unknown-key")
        #expect(unknown.receipts.map(\.value) == [nil] && unknown.receipts.first?.headers.isEmpty == true)
        _ = try rig.send(rig.command(.ban, device, seed: 1))
        let banned = try rig.send(ExchangeRequest.receipt(Self.receipt(of: device, at: rig.time), of: device))
        #expect(banned.reason == "banned" && banned.receipts.isEmpty && rig.key(device)?.risk == nil)
    }

    @Test func `an app that keeps no receipts refuses, and where none does the verb is not served`() throws {
        let (rig, device) = try Self.attested()
        let receipt = Self.receipt(of: device, at: rig.time)
        let other = try rig.send(ExchangeRequest.receipt(receipt, of: device, resource: ExchangeKit.otherResource))
        #expect(other.reason == "risk-off" && other.code == 403)
        let without = try ExchangeRig(ExchangeKit.settings())
        let unserved = try without.send(ExchangeRequest.receipt(receipt, of: device))
        #expect(unserved.reason == "unknown-method" && unserved.code == 400)
    }

    @Test(arguments: ["\"1\"", "-1", "1.5", "253402300800000", "true"])
    func `an exchanged that is no time is malformed`(exchanged: String) throws {
        let (rig, device) = try Self.attested()
        let request = ExchangeRequest.receipt(Self.receipt(of: device, at: rig.time), of: device, exchanged: exchanged)
        #expect(try rig.send(request).reason == "malformed-request")
    }

    @Test(arguments: [true, false])
    func `attested, refreshed and forgotten, a key keeps nothing, in one batch and in three`(inOneBatch: Bool) throws {
        let (rig, device) = try Self.fresh()
        let receipt = ExchangeRequest.receipt(Self.receipt(of: device, at: rig.time), of: device)
        let requests: [ExchangeRequest] = [
            .verifyAttestation(of: device, at: rig.time - 1000), receipt.with(id: "before"),
            try rig.command(.forget, device, seed: 1), receipt.with(id: "after"),
        ]
        let answers = try inOneBatch ? rig.send(requests) : requests.map(rig.send)
        #expect(answers.map(\.summary) == ["accepted", "accepted", "accepted", "unknown-key"])
        #expect(answers.flatMap(\.receipts).map { $0.value == nil } == [false, false, true, true])
        #expect(rig.key(device) == nil)
    }

    @Test func `a metric stands beside later verdicts for 30 days, and stays where the key attests again`() throws {
        var (rig, device) = try Self.fresh()
        let artifact = try rig.register(device)
        let made = rig.time
        #expect(try rig.send(.receipt(Self.receipt(of: device, at: made), of: device)).verdict == "accepted")
        let metric = try #require(rig.key(device)?.risk)
        let beside = try rig.refresh(&device, artifact).result?["evidence"]?["risk"]
        #expect(beside?["metric"]?.integer == Int64(metric.value))
        rig.time = made + 1000
        let again = try rig.send(.verifyAttestation(of: device, at: rig.time))
        #expect(again.verdict == "accepted" && again.result?["evidence"]?["risk"] != nil)
        #expect(rig.key(device)?.risk == metric)
        for (time, counts) in [(30 * Self.day - 3_600_000, true), (30 * Self.day + 1000, false)] {
            rig.time = made + time
            let answers = try rig.refresh(&device, artifact)
            #expect(answers.verdict == "accepted")
            #expect((answers.result?["evidence"]?["risk"] != nil) == counts)
        }
    }
}
