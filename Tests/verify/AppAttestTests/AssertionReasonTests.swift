import Crypto
import Testing

@testable import AppAttest

/// One fault at a time, each with its reason; the test itself answers the signature check.
@Suite struct AssertionReasonTests {
    struct Made {
        var signature = DER.sequence(DER.integer([1]), DER.integer([1]))
        var rpIDHash = MadeAttestation.appID.rpIDHash.bytes
        var flags: UInt8 = 0x40
        var counter: [UInt8] = [0, 0, 0, 1]
        var rest: [UInt8] = []
        var authDataLength: Int?
        var moreMembers: [(String, [UInt8])] = []
        var authDataAsText = false

        var authData: [UInt8] {
            let whole = rpIDHash + [flags] + counter + rest
            return Array(whole.prefix(authDataLength ?? whole.count))
        }

        var object: [UInt8] {
            let data = authDataAsText ? CBORText.text("data") : CBORText.bytes(authData)
            return CBORText.map([("signature", CBORText.bytes(signature)), ("authenticatorData", data)] + moreMembers)
        }

        func prepared(
            _ expectations: Expectations = Expectations(appIDs: [MadeAttestation.appID]),
            key: P256PublicKey? = MadeLeaf.baseKey,
            clientDataHash: [UInt8] = MadeAttestation.clientDataHash
        ) throws -> Prepared<AssertionEvidence> {
            let anchors = try TrustAnchors(attestationPEM: [], receiptPEM: [])
            return ObjectVerifier(anchors: anchors).prepareAssertion(
                object,
                clientDataHash: clientDataHash,
                key: try #require(key),
                expectations: expectations
            )
        }

        func code(
            _ expectations: Expectations = Expectations(appIDs: [MadeAttestation.appID]),
            answer: Bool = true
        ) throws -> String {
            let prepared = try prepared(expectations)
            return prepared.conclude(prepared.checks.map { _ in answer }).code
        }
    }

    typealias Change = @Sendable (inout Made) -> Void

    @Test(arguments: zip([[0, 0, 0, 1], [0x80, 0, 0, 0], [255, 255, 255, 255]], [1, 0x8000_0000, UInt32.max]))
    func `an assertion without a fault is valid, its counter unsigned`(_ bytes: [UInt8], _ counter: UInt32) throws {
        var made = Made()
        made.counter = bytes
        let prepared = try made.prepared()
        let evidence = try prepared.conclude([true]).get()
        #expect(evidence.counter == counter)
        #expect(evidence.appID == MadeAttestation.appID)
    }

    @Test func `ECDSA verifies the digest of the nonce`() throws {
        let made = Made()
        guard case .p256(let key, let digest, _)? = try made.prepared().checks.first else {
            Issue.record("no check")
            return
        }
        let nonce = SHA256.hash(made.authData + MadeAttestation.clientDataHash)
        #expect(digest == SHA256.hash(nonce.bytes))
        #expect(key.x963 == MadeLeaf.basePoint)
    }

    private static let cases: [(String, Change)] = [
        // A cdHash, other flags, a map with and without ED.
        ("valid", { $0.moreMembers = [("cdHash", CBORText.bytes([1]))] }),
        ("valid", { $0.flags = 0x00 }),
        ("valid", { ($0.flags, $0.rest) = (0xFF, CBORText.map([])) }),
        ("valid", { $0.flags = 0x7F }),
        ("valid", { ($0.flags, $0.rest) = (0xC0, CBORText.map([])) }),
        ("valid", { $0.rest = CBORText.map([]) }),
        ("malformed-assertion", { $0.authDataAsText = true }),
        ("malformed-assertion", { $0.moreMembers = [("signature", CBORText.bytes([]))] }),
        ("malformed-assertion", { $0.moreMembers = [("x", CBORText.bytes([UInt8](repeating: 0, count: 4096)))] }),
        ("malformed-assertion", { $0.authDataLength = 0 }),
        ("malformed-assertion", { $0.authDataLength = 36 }),
        ("malformed-assertion", { $0.rest = [0x00] }),
        ("malformed-assertion", { $0.flags = 0xC0 }),
        ("malformed-assertion", { $0.rest = CBORText.map([("bundleVersion", CBORText.unsigned(1))]) }),
        ("signature-invalid", { $0.signature = [] }),
        ("signature-invalid", { $0.signature.append(0) }),
        ("signature-invalid", { $0.signature = DER.sequence(DER.integer([0]), DER.integer([1])) }),
        ("signature-invalid", { $0.signature = [UInt8](repeating: 1, count: 64) }),
        ("app-id-mismatch", { $0.rpIDHash[0] ^= 1 }),
    ]

    @Test(arguments: cases)
    func `one fault has its reason, and what may differ has none`(_ code: String, _ change: Change) throws {
        var made = Made()
        change(&made)
        #expect(try made.code() == code)
    }

    @Test func `the signature is judged before any field`() throws {
        var made = Made()
        made.rpIDHash[0] ^= 1
        #expect(try made.code(answer: false) == "signature-invalid")
        #expect(try made.code(answer: true) == "app-id-mismatch")
    }

    @Test func `a key off the curve is the store's fault`() throws {
        let base = try #require(MadeLeaf.baseKey)
        let bad = P256PublicKey(uncheckedX: base.x, y: base.x)
        #expect(try Made().prepared(key: bad).conclude([false]).code == "key-invalid")
        #expect(try Made().prepared(key: base).conclude([false]).code == "signature-invalid")
        var made = Made()
        made.signature = []
        #expect(try made.prepared(key: bad).conclude([]).code == "key-invalid")
    }

    @Test(arguments: [0, 1025]) func `an empty or too long hash is malformed`(_ count: Int) throws {
        let prepared = try Made().prepared(clientDataHash: [UInt8](repeating: 0, count: count))
        #expect(prepared.conclude([]).code == "malformed-assertion")
    }

    @Test func `the entries of every assertion are judged by policy`() throws {
        let appIDs = [MadeAttestation.appID]
        var made = Made()
        made.flags = 0xC0
        made.rest = CBORText.map([("apple_validation_category_01", CBORText.bytes([3, 0, 0, 0]))])
        #expect(try made.code(Expectations(appIDs: appIDs, categories: EntryPolicy(allow: [3]))) == "valid")
        let onlyStore = Expectations(appIDs: appIDs, categories: EntryPolicy(allow: [4]))
        #expect(try made.code(onlyStore) == "category-not-allowed")
        let version = Expectations(appIDs: appIDs, bundleVersions: EntryPolicy(whenMissing: .refuse))
        #expect(try made.code(version) == "bundle-version-missing")
        let present = Expectations(appIDs: appIDs, categories: EntryPolicy(whenMissing: .refuse))
        #expect(try Made().code(present) == "category-missing")
    }
}
