internal import AppAttest
internal import AppCheck
internal import Crypto
internal import DeviceLab
internal import Gateway
internal import JSON
internal import KafkaPorts
internal import Risk
internal import RiskKit
internal import Settings
internal import Streams
internal import Telemetry
internal import TestKit
internal import Testing

@testable internal import Lab
@testable internal import Refresher

/// The loop with real receipts, and calls over HTTP to Apple's double.
@Suite("The refresher and Apple's double", .waiting)
struct LabRefreshTests {
    private static let ca = LabCA(seed: 1)
    private static let now = EvaluationTime(milliseconds: 1_791_806_400_000)
    private static let appID = "ABCDE12345.com.example.app"
    private static let device = FakeDevice(ca: ca, appID: appID, seed: 7)
    private static let createdAt = now.after(milliseconds: -Milliseconds.hour)
    private static let receipt = device.receipt(.attest, clientDataHash: SHA256.hash([1]).bytes, at: createdAt)

    private static var record: InboundRecord {
        let dates = ReceiptDates(type: .attest, createdAt: createdAt)
        var record = FakeReceipts.record(SimulatedReceipt(key: 2, dates: dates, attestation: 1), offset: 0)
        (record.key, record.value) = (device.keyID.recordKey, receipt)
        return record.inbound(partition: 0)
    }

    private struct Run {
        let calls: AppleCalls
        let refresher: LoneRefresher

        init(_ settings: RiskSettings, key: ProviderKey) throws {
            calls = try AppleCalls(settings)
            let judge = AppleReceipts(ObjectVerifier(anchors: try ca.anchors()), engine: OpenSSLEngine())
            let caller = calls
            refresher = try LoneRefresher([record], partitions: 1, keys: [key], judge: judge, caller: caller, at: now)
        }

        /// Passes until `isOver` says so, or nothing has happened for long.
        func work(until isOver: () -> Bool) throws {
            var watch = StandstillWatch<Int>()
            while !isOver(), !watch.isStill(0) {
                try refresher.passOnce()
                refresher.inbox.wait(milliseconds: 5)
            }
            calls.stop()
        }
    }

    private static func key() throws -> ProviderKey {
        try #require(ProviderKey(team: "ABCDE12345", kid: "K1", key: try SigningKey.generate(.p256)))
    }

    @Test func `a receipt of the topic becomes a request with Apple's new one`() throws {
        let key = try Self.key()
        let known = DeviceCheckKey(team: "ABCDE12345", kid: "K1", publicKey: key.key.publicKey)
        let apple = LabApple(Self.ca, LabApple.Settings(keys: [known]))
        let server = try LabAppleServer(apple, port: 0, drips: 3) { Self.now }
        var settings = RiskSettings()
        settings.production = server.url
        let run = try Run(settings, key: key)
        try run.work { !run.refresher.outlet.written.isEmpty }
        let request = try #require(run.refresher.outlet.written.first)
        #expect(request.key == Self.device.keyID.recordKey && run.refresher.loop.verifiedCount == 1)
        let body = try #require(try JSONDocument(parsing: request.value).root["body"])
        let bytes = try #require(body["receipt"]?.base64Bytes)
        let fresh = try #require(ReceiptContent(unverified: bytes))
        #expect(fresh.type == .receipt && fresh.riskMetric != nil && fresh.createdAt > Self.createdAt)
        #expect(body["exchanged"]?.integer == Self.createdAt.milliseconds)
    }

    @Test func `a host that does not answer keeps the receipt`() throws {
        var settings = RiskSettings()
        settings.production = "http://127.0.0.1:1/"
        let run = try Run(settings, key: try Self.key())
        var hasCalled = false
        try run.work {
            hasCalled = hasCalled || run.refresher.loop.openCount > 0
            return hasCalled && run.refresher.loop.openCount == 0
        }
        #expect(run.refresher.outlet.written.isEmpty && run.refresher.loop.verifiedCount == 0)
        #expect(run.refresher.committed(.first, 0) ?? 0 == 0)
    }
}
