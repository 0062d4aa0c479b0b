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
    private static let time = EvaluationTime(milliseconds: ExchangeKit.start - 1000)

    private static func fresh(
        _ mode: RiskPolicy.Mode = .report,
        hasTopic: Bool = true
    ) throws -> (rig: ExchangeRig, device: FakeDevice) {
        var settings = try ExchangeKit.settings { $0.risk.mode = mode }
        settings.hasReceipts = hasTopic
        return try ExchangeRig.fresh(settings)
    }

    private static func headers(_ record: OutboundRecord) -> [String: String] {
        Dictionary(
            uniqueKeysWithValues: record.headers.map {
                (String(decoding: $0.name, as: UTF8.self), String(decoding: $0.value ?? [], as: UTF8.self))
            }
        )
    }

    @Test func `an accepted attestation's receipt is written as Apple signed it, under the key ID`() throws {
        let (rig, device) = try Self.fresh()
        let object = device.attest(clientDataHash: ExchangeKit.clientDataHash, at: Self.time)
        let answers = try rig.send(.plain(.verifyAttestation, object, of: device))
        let receipt = try #require(answers.receipts.first)
        #expect(answers.verdict == "accepted" && answers.receipts.count == 1)
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
        let (rig, device) = try Self.fresh()
        let request = try rig.attestation(of: device)
            .with(headers: [RecordHeader("installation-id", "cGhvbmU1678901234567890")]).with(id: "once")
        let first = try rig.send(request)
        let receipt = try #require(first.receipts.first)
        #expect(Self.headers(receipt)["installation-id"] == "cGhvbmU1678901234567890")
        let second = try rig.send(request)
        #expect(second.isDuplicate && second.receipts.isEmpty)
    }

    @Test func `without the mode, without the topic, and for what is refused, nothing is written`() throws {
        for (rig, device) in [try Self.fresh(.off), try Self.fresh(.report, hasTopic: false)] {
            let answers = try rig.send(.verifyAttestation(of: device))
            #expect(answers.verdict == "accepted" && answers.receipts.isEmpty)
        }
        let (rig, device) = try Self.fresh()
        let refused = device.attest(clientDataHash: SHA256.hash([1]).bytes, at: Self.time)
        let answers = try rig.send(.plain(.verifyAttestation, refused, of: device))
        #expect(answers.reason == "nonce-mismatch" && answers.receipts.isEmpty)
    }

    @Test func `a receipt that is not genuine is not kept, and one that is only old is`() throws {
        let (rig, device) = try Self.fresh()
        let damaged = device.attest(
            clientDataHash: ExchangeKit.clientDataHash,
            at: Self.time,
            altered: .receiptPayload { Array($0.dropLast()) + [0x55] }
        )
        let answers = try rig.send(.plain(.verifyAttestation, damaged, of: device))
        #expect(answers.verdict == "accepted", "the receipt is reported, not required")
        #expect(answers.result?["evidence"]?["receipt"]?["verdict"]?.string == "refused")
        #expect(answers.receipts.isEmpty)
        let other = FakeDevice(ExchangeKit.model, seed: 4)
        let old = try rig.send(.verifyAttestation(of: other, at: ExchangeKit.start - 3_600_000))
        #expect(old.result?["evidence"]?["receipt"]?["reason"]?.string == "receipt:too-old")
        #expect(old.receipts.count == 1)
    }

    @Test(arguments: [true, false])
    func `forget leaves a tombstone, and what attests behind it writes anew`(inOneBatch: Bool) throws {
        let (rig, device) = try Self.fresh()
        let attestation = ExchangeRequest.verifyAttestation(of: device)
        let requests = [attestation, try rig.command(.forget, device, seed: 1), attestation]
        let answers = try inOneBatch ? rig.send(requests) : requests.map(rig.send)
        #expect(answers.map(\.verdict) == ["accepted", "accepted", "accepted"])
        let written = answers.flatMap(\.receipts)
        #expect(written.map(\.key) == [device.keyID.recordKey, device.keyID.recordKey, device.keyID.recordKey])
        #expect(written.map { $0.value == nil } == [false, true, false])
        #expect(written[1].headers.isEmpty)
        let without = try Self.fresh(.off, hasTopic: false).rig
        let forgotten = try without.send(without.command(.forget, device, seed: 2))
        #expect(forgotten.verdict == "accepted" && forgotten.receipts.isEmpty)
    }

    @Test func `a ban and an assertion write no receipt`() throws {
        var (rig, device) = try Self.fresh()
        let artifact = try rig.register(device)
        let refreshed = try rig.refresh(&device, artifact)
        #expect(refreshed.verdict == "accepted" && refreshed.receipts.isEmpty)
        let banned = try rig.send(rig.command(.ban, device, seed: 1))
        #expect(banned.verdict == "accepted" && banned.receipts.isEmpty)
    }
}
