import AppAttest
import AppCheck
import Crypto
import DeviceLab
import JSON
import Pipeline
import SimulationKit
import Streams
import TestKit
import Testing

/// The receipts topic: each key's last genuine receipt, in the order of the requests.
@Suite("The receipts topic")
struct ReceiptTopicTests {
    private static let hash = [UInt8](repeating: 7, count: 32)
    private static let time = EvaluationTime(milliseconds: ExchangeKit.start - 1000)

    private static func rig(_ mode: RiskPolicy.Mode = .report, hasTopic: Bool = true) throws -> ExchangeRig {
        var settings = try ExchangeKit.settings { $0.risk.mode = mode }
        settings.hasReceipts = hasTopic
        return try ExchangeRig(settings)
    }

    /// `verifyAttestation` of an object.
    private static func attestation(_ object: [UInt8], of device: FakeDevice) -> ExchangeRequest {
        let value = RequestRecords.value(
            verb: .verifyAttestation,
            object: object,
            keyID: device.keyID,
            clientDataHash: hash,
            path: "v1/\(ExchangeKit.resource)"
        )
        return ExchangeRequest(value, key: device.keyID.recordKey)
    }

    private static func attestation(of device: FakeDevice, at time: EvaluationTime = Self.time) -> ExchangeRequest {
        attestation(device.attest(clientDataHash: hash, at: time), of: device)
    }

    private static func forget(_ device: FakeDevice, _ rig: ExchangeRig, seed: UInt8) throws -> ExchangeRequest {
        try .command(.sample(.forget, .key(device.keyID), at: rig.time, seed: seed), rig.settings.exchange.keys)
    }

    private static func receipts(_ answers: ExchangeAnswers) -> [OutboundRecord] {
        answers.outputs.filter { $0.stream == .receipts }
    }

    private static func headers(_ record: OutboundRecord) -> [String: String] {
        Dictionary(
            uniqueKeysWithValues: record.headers.map {
                (String(decoding: $0.name, as: UTF8.self), String(decoding: $0.value ?? [], as: UTF8.self))
            }
        )
    }

    @Test func `an accepted attestation's receipt is written as Apple signed it, under the key ID`() throws {
        let rig = try Self.rig()
        let device = FakeDevice(ExchangeKit.model, seed: 3)
        let object = device.attest(clientDataHash: Self.hash, at: Self.time)
        let answers = try rig.send(Self.attestation(object, of: device))
        let receipt = try #require(Self.receipts(answers).first)
        #expect(answers.verdict == "accepted" && Self.receipts(answers).count == 1)
        #expect(receipt.key == device.keyID.recordKey)
        let value = try #require(receipt.value)
        #expect(value.count > 1000 && object.contains(value), "its bytes are those in the object")
        #expect(
            Self.headers(receipt) == [
                "app": ExchangeKit.name, "environment": "production", "type": "ATTEST",
                "created-at": String(Self.time.milliseconds),
            ]
        )
    }

    @Test func `an exchange's receipt names the installation, and its duplicate writes nothing`() throws {
        let rig = try Self.rig()
        let device = FakeDevice(ExchangeKit.model, seed: 3)
        let request = ExchangeRequest.attestation(of: device, challenge: try rig.challenge())
            .with(headers: [RecordHeader("installation-id", "cGhvbmU1678901234567890")]).with(id: "once")
        let first = try rig.send(request)
        let receipt = try #require(Self.receipts(first).first)
        #expect(Self.headers(receipt)["installation-id"] == "cGhvbmU1678901234567890")
        let second = try rig.send(request)
        #expect(second.isDuplicate && Self.receipts(second).isEmpty)
    }

    @Test func `without the mode, without the topic, and for what is refused, nothing is written`() throws {
        let device = FakeDevice(ExchangeKit.model, seed: 3)
        for rig in [try Self.rig(.off), try Self.rig(.report, hasTopic: false)] {
            let answers = try rig.send(Self.attestation(of: device))
            #expect(answers.verdict == "accepted" && Self.receipts(answers).isEmpty)
        }
        let rig = try Self.rig()
        let refused = device.attest(clientDataHash: SHA256.hash([1]).bytes, at: Self.time)
        let answers = try rig.send(Self.attestation(refused, of: device))
        #expect(answers.reason == "nonce-mismatch" && Self.receipts(answers).isEmpty)
    }

    @Test func `a receipt that is not genuine is not kept, and one that is only old is`() throws {
        let rig = try Self.rig()
        let device = FakeDevice(ExchangeKit.model, seed: 3)
        let damaged = device.attest(
            clientDataHash: Self.hash,
            at: Self.time,
            altered: .receiptPayload { Array($0.dropLast()) + [0x55] }
        )
        let answers = try rig.send(Self.attestation(damaged, of: device))
        #expect(answers.verdict == "accepted", "the receipt is reported, not required")
        #expect(answers.result?["evidence"]?["receipt"]?["verdict"]?.string == "refused")
        #expect(Self.receipts(answers).isEmpty)
        let other = FakeDevice(ExchangeKit.model, seed: 4)
        let early = EvaluationTime(milliseconds: ExchangeKit.start - 3_600_000)
        let old = try rig.send(Self.attestation(of: other, at: early))
        #expect(old.result?["evidence"]?["receipt"]?["reason"]?.string == "receipt:too-old")
        #expect(Self.receipts(old).count == 1)
    }

    @Test(arguments: [true, false])
    func `forget leaves a tombstone, and what attests behind it writes anew`(inOneBatch: Bool) throws {
        let rig = try Self.rig()
        let device = FakeDevice(ExchangeKit.model, seed: 3)
        let requests = [
            Self.attestation(of: device), try Self.forget(device, rig, seed: 1), Self.attestation(of: device),
        ]
        let answers = try inOneBatch ? rig.send(requests) : requests.map(rig.send)
        #expect(answers.map(\.verdict) == ["accepted", "accepted", "accepted"])
        let written = answers.flatMap(Self.receipts)
        #expect(written.map(\.key) == [device.keyID.recordKey, device.keyID.recordKey, device.keyID.recordKey])
        #expect(written.map { $0.value == nil } == [false, true, false])
        #expect(written[1].headers.isEmpty)
        let without = try Self.rig(.off, hasTopic: false)
        let forgotten = try without.send(Self.forget(device, without, seed: 2))
        #expect(forgotten.verdict == "accepted" && Self.receipts(forgotten).isEmpty)
    }

    @Test func `a ban and an assertion write no receipt`() throws {
        let rig = try Self.rig()
        var device = FakeDevice(ExchangeKit.model, seed: 3)
        let artifact = try rig.register(device)
        let refreshed = try rig.refresh(&device, artifact)
        #expect(refreshed.verdict == "accepted" && Self.receipts(refreshed).isEmpty)
        let ban = OperatorCommand.sample(.ban, .key(device.keyID), at: rig.time, seed: 1)
        let banned = try rig.send(.command(ban, rig.settings.exchange.keys))
        #expect(banned.verdict == "accepted" && Self.receipts(banned).isEmpty)
    }
}
