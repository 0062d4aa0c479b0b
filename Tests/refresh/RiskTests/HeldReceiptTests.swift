internal import AppAttest
internal import Crypto
internal import DeviceLab
internal import JSON
internal import Testing

@testable internal import Risk

@Suite("A record's headers are compared with its receipt")
struct HeldReceiptTests {
    private static let ca = LabCA(seed: 5)
    private static let app = "projects/1/apps/1:1:ios:1"
    private static let createdAt = EvaluationTime(milliseconds: 1_791_806_400_250)
    private static let notBefore = createdAt.after(milliseconds: Milliseconds.day)

    private let judge: AppleReceipts

    init() throws {
        judge = AppleReceipts(ObjectVerifier(anchors: try Self.ca.anchors()), engine: OpenSSLEngine())
    }

    private static func device(_ environment: Environment) -> FakeDevice {
        FakeDevice(ca: ca, appID: "ABCDE12345.com.example.app", environment: environment, shape: .ios18_0, seed: 7)
    }

    private static func text(_ time: EvaluationTime) -> String { String(time.milliseconds) }

    /// A record as the worker writes it, but for the changed headers; nil takes one away.
    private static func record(
        _ type: ReceiptType = .receipt,
        _ environment: Environment = .production,
        headers changed: [String: String?] = [:]
    ) -> ReceiptRecord {
        let device = device(environment)
        var headers: [String: String?] = [
            "app": app, "environment": environment.rawValue, "type": type.rawValue, "created-at": text(createdAt),
            "not-before": type == .receipt ? text(notBefore) : nil,
        ]
        headers.merge(changed) { $1 }
        return ReceiptRecord(
            offset: 0,
            key: Base64.encode([UInt8](repeating: 1, count: 32)),
            value: device.receipt(type, clientDataHash: [UInt8](repeating: 7, count: 32), at: createdAt),
            headers: headers.compactMap { name, value in value.map { (Array(name.utf8), Array($0.utf8)) } }
        )
    }

    private func held(_ record: ReceiptRecord) throws(HeldReceipt.Passed) -> HeldReceipt {
        try HeldReceipt(record, for: .again, apps: [Self.app], judge: judge)
    }

    @Test(arguments: ReceiptType.allCases, Environment.allCases)
    func `a record as the worker writes it is held with its receipt's dates`(
        type: ReceiptType,
        environment: Environment
    ) throws {
        let record = Self.record(type, environment)
        let receipt = try held(record)
        let content = try #require(ReceiptContent(unverified: receipt.bytes))
        #expect(receipt.environment == environment && receipt.appID == "ABCDE12345.com.example.app")
        #expect(receipt.dates == ReceiptDates(content) && receipt.dates.type == type)
        #expect((receipt.dates.notBefore == nil) == (type == .attest))
        #expect(receipt.dates.expiresAt == Self.createdAt.after(milliseconds: 90 * Milliseconds.day))
    }

    @Test(
        arguments: [
            ("environment", "development"), ("type", "ATTEST"), ("created-at", text(createdAt.after(milliseconds: 1))),
            ("created-at", text(createdAt.after(milliseconds: -1))),
        ]
    )
    func `headers of another receipt make the record unreadable`(name: String, value: String) {
        #expect(throws: HeldReceipt.Passed.unreadable) { try held(Self.record(headers: [name: value])) }
    }

    @Test func `the later Not Before counts, of header and receipt`() throws {
        for shift in [-Milliseconds.day, -1, 1, Milliseconds.day] {
            let header = Self.notBefore.after(milliseconds: shift)
            let receipt = try held(Self.record(headers: ["not-before": Self.text(header)]))
            #expect(receipt.dates.notBefore == max(header, Self.notBefore))
        }
        #expect(try held(Self.record(headers: ["not-before": nil])).dates.notBefore == Self.notBefore)
    }

    @Test func `an ATTEST receipt has the header's Not Before, or none`() throws {
        #expect(try held(Self.record(.attest)).dates.notBefore == nil)
        let record = Self.record(.attest, headers: ["not-before": Self.text(Self.notBefore)])
        #expect(try held(record).dates.notBefore == Self.notBefore)
    }
}
