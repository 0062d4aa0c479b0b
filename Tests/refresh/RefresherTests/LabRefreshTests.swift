internal import AppAttest
internal import AppCheck
internal import Crypto
internal import DeviceLab
internal import Gateway
internal import JSON
internal import KafkaPorts
internal import Risk
internal import RiskKit
internal import Streams
internal import TestKit
internal import Testing

@testable internal import Refresher

/// The loop with real receipts, and calls over HTTP to Apple's double.
@Suite("The refresher and Apple's double", .waiting)
struct LabRefreshTests {
    private static var record: InboundRecord {
        let dates = ReceiptDates(type: .attest, createdAt: AppleLab.createdAt)
        var record = FakeReceipts.record(SimulatedReceipt(key: 2, dates: dates), offset: 0)
        (record.key, record.value) = (AppleLab.device.keyID.recordKey, AppleLab.receipt)
        return record.inbound(partition: 0)
    }

    @Test func `a receipt of the topic becomes a request with Apple's new one`() throws {
        let apple = try AppleLab()
        let calls = try AppleCalls(apple.settings)
        defer { calls.stop() }
        let judge = AppleReceipts(try AppleLab.verifier(), engine: OpenSSLEngine())
        let rules = RefreshRules(keys: [apple.key], apps: [FakeReceipts.app], callsPerSecond: 1_000)
        let refresher = try LoneRefresher(
            [Self.record],
            partitions: 1,
            rules: rules,
            judge: judge,
            caller: calls,
            at: AppleLab.now
        )
        var watch = StandstillWatch<Int>()
        while refresher.outlet.written.isEmpty, !watch.isStill(0) {
            try refresher.passOnce()
            refresher.inbox.wait(milliseconds: 5)
        }
        let request = try #require(refresher.outlet.written.first)
        #expect(request.key == AppleLab.device.keyID.recordKey && refresher.loop.verifiedCount == 1)
        let body = try #require(try JSONDocument(parsing: request.value).root["body"])
        let bytes = try #require(body["receipt"]?.base64Bytes)
        let fresh = try #require(ReceiptContent(unverified: bytes))
        #expect(fresh.type == .receipt && fresh.riskMetric != nil && fresh.createdAt > AppleLab.createdAt)
        #expect(body["exchanged"]?.integer == AppleLab.createdAt.milliseconds)
    }
}
