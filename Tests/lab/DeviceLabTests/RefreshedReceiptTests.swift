internal import AppAttest
internal import Crypto
internal import DeviceLab
internal import JSON
internal import Testing

/// Receipts as Apple gives them for receipts that were sent.
@Suite("Refreshed receipts")
struct RefreshedReceiptTests {
    private static let day = AppleRig.day

    /// Every build must make the same receipts.
    @Test(arguments: [(ReceiptType.attest, [UInt8]([110, 247, 128, 114])), (.receipt, [199, 130, 48, 48])])
    func `a device's receipts are the same in every process`(type: ReceiptType, digest: [UInt8]) {
        let receipt = Lab.device(.ios26_3).receipt(type, clientDataHash: Lab.clientDataHash, at: Lab.noon)
        #expect(Array(SHA256.hash(receipt).bytes.prefix(4)) == digest)
    }

    @Test(arguments: [DeviceShape.ios14_0, .ios27_0_1, .macos27_0, .receiptInDER], Environment.allCases)
    func `a refreshed receipt keeps leaf and field 5 and is accepted, as is the one that follows it`(
        shape: DeviceShape,
        environment: Environment
    ) throws {
        let device = Lab.device(shape, environment: environment)
        let attested = try Self.content(device, .attest)
        let verifier = try Lab.verifier()
        var sent = attested
        for round in 1...3 {
            let now = AppleRig.later(Int64(round) * Self.day)
            let facts = ReceiptFacts(refreshing: sent, environment: environment, metric: round * 7, at: now)
            let receipt = Lab.ca.receipt(facts)
            let verdict = try verifier.receipt(receipt, of: device, leaf: attested.leaf, at: now)
            #expect(verdict.refusal == nil && verdict.riskMetric == ExactText("\(round * 7)"))
            sent = try #require(ReceiptContent(unverified: receipt))
            #expect(sent.leaf == attested.leaf && sent.token == attested.token && sent.appID == attested.appID)
            #expect(sent.type == .receipt && sent.environment == environment && sent.createdAt == now)
            #expect(sent.publicKey == device.publicKey)
        }
    }

    @Test(arguments: [
        (ReceiptSpans(), 1, 90), (ReceiptSpans(notBeforeSeconds: 30 * 86_400, expirySeconds: 60 * 86_400), 30, 60),
    ])
    func `Not Before and expiry follow the creation by their spans`(
        dates: ReceiptSpans,
        notBefore: Int64,
        expiry: Int64
    ) throws {
        let sent = try Self.content(Lab.device(.ios27_0_1), .attest)
        let facts = ReceiptFacts(refreshing: sent, environment: .production, metric: 1, at: Lab.noon, dates)
        let content = try #require(ReceiptContent(unverified: Lab.ca.receipt(facts)))
        #expect(content.notBefore == AppleRig.later(notBefore * Self.day))
        #expect(content.expiresAt == AppleRig.later(expiry * Self.day))
    }

    @Test func `a receipt under a foreign root is refused for its chain`() throws {
        let device = Lab.device(.ios27_0_1)
        let sent = try Self.content(device, .attest)
        let facts = ReceiptFacts(refreshing: sent, environment: .production, metric: 1, at: Lab.noon)
        for isForeign in [false, true] {
            let verdict = try Lab.verifier().receipt(Lab.ca.receipt(facts, isForeign: isForeign), of: device)
            #expect(verdict.refusal == (isForeign ? .chain : nil))
        }
    }

    @Test(arguments: [ReceiptType.attest, .receipt])
    func `a receipt's content is what its device wrote`(type: ReceiptType) throws {
        let content = try Self.content(Lab.device(.ios27_0_1, environment: .development), type)
        #expect(content.appID == Array(Lab.appID.utf8) && content.environment == .development)
        #expect(content.type == type && content.createdAt == Lab.noon)
        #expect((content.clientHash == Lab.clientDataHash) == (type == .attest))
        #expect((content.notBefore == nil) == (type == .attest) && (content.riskMetric == nil) == (type == .attest))
        #expect(content.token.flatMap { Base64.decode($0) }?.count == 64)
        // Whole seconds, a day back.
        #expect(content.leafNotBefore == AppleRig.later(-Self.day - 250))
    }

    @Test func `bytes that are not a receipt have no content`() {
        let receipt = AppleRig.attested(Lab.device(.ios27_0_1))
        #expect(ReceiptContent(unverified: receipt) != nil)
        for bytes in [[], [0x30], Array(receipt.dropLast()), receipt + [0], Base64.encode(receipt)] {
            #expect(ReceiptContent(unverified: bytes) == nil)
        }
    }

    @Test func `hardware changes field 5 alone, and each attestation's differs`() throws {
        var device = Lab.device(.ios27_0_1)
        let plain = try Self.content(device, .attest)
        device.hardware = 7
        let named = try Self.content(device, .attest)
        #expect(named.token != plain.token && named.token?.count == plain.token?.count)
        #expect(named.leaf == plain.leaf && named.createdAt == plain.createdAt)
        let again = AppleRig.attested(device, at: AppleRig.later(1))
        #expect(try #require(ReceiptContent(unverified: again)).token != named.token)
    }

    @Test(arguments: [nil, 7] as [UInt64?])
    func `an attestation carries the receipt of its device's hardware`(hardware: UInt64?) {
        var device = Lab.device(.ios27_0_1)
        device.hardware = hardware
        let receipt = AppleRig.attested(device)
        #expect(device.attest(clientDataHash: Lab.clientDataHash, at: Lab.noon).contains(receipt))
        device.hardware = 8
        #expect(!device.attest(clientDataHash: Lab.clientDataHash, at: Lab.noon).contains(receipt))
    }

    private static func content(_ device: FakeDevice, _ type: ReceiptType) throws -> ReceiptContent {
        let receipt = device.receipt(type, clientDataHash: Lab.clientDataHash, at: Lab.noon)
        return try #require(ReceiptContent(unverified: receipt))
    }
}
