import Crypto
import DeviceLab
import Testing

@testable import AppAttest

/// Texts from records are their bytes: one text has one spelling, and few bytes.
@Suite struct ExactTextTests {
    private static let ca = LabCA(seed: 3)

    private static func code(version: String, allow: Set<ExactText>?) throws -> String {
        let device = FakeDevice(ca: ca, appID: "ABCDE12345.com.example.app", seed: 1, bundleVersion: version)
        var expectations = device.expectations
        expectations.bundleVersions = EntryPolicy(allow: allow)
        let hash = [UInt8](repeating: 1, count: 32)
        return try ObjectVerifier(anchors: ca.anchors()).prepareAssertion(
            device.assertion(clientDataHash: hash, counter: 1),
            clientDataHash: hash,
            key: device.publicKey,
            expectations: expectations
        ).verified(by: OpenSSLEngine()).code
    }

    @Test func `another spelling of an allowed bundle version is not allowed`() throws {
        #expect("e\u{301}" == "\u{E9}", "Unicode takes them for equal")
        #expect(try Self.code(version: "\u{E9}", allow: ["\u{E9}"]) == "valid")
        #expect(try Self.code(version: "e\u{301}", allow: ["\u{E9}"]) == "bundle-version-not-allowed")
        #expect(try Self.code(version: "e\u{301}", allow: ["e\u{301}"]) == "valid")
    }

    @Test(arguments: [(255, "valid"), (256, "malformed-assertion")])
    func `a bundle version has 255 bytes at most`(count: Int, code: String) throws {
        #expect(try Self.code(version: String(repeating: "1", count: count), allow: nil) == code)
    }

    @Test(arguments: ["ATTEST\u{301}", "attest", "ATTEST ", "", "RECEIPT\u{323}\u{301}"])
    func `a receipt's type is compared by its bytes`(type: String) throws {
        var receipt = MadeReceipt()
        receipt.set(6, type)
        #expect(try receipt.verdict().refusal == .type)
    }

    @Test func `the cache of verified certificates forgets the least recently used one`() {
        var cache = VerifiedCache<Int>(capacity: 2)
        let names = (0..<3).map { SHA256.hash([UInt8($0)]) }
        cache.insert(names[0], 0)
        cache.insert(names[1], 1)
        #expect(cache.find(names[0]) == 0)
        cache.insert(names[2], 2)
        #expect(cache.find(names[0]) == 0 && cache.find(names[1]) == nil && cache.find(names[2]) == 2)
        #expect(cache.count == 2)
    }
}
