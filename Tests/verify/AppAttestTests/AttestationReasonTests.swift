import Crypto
import Testing

@testable import AppAttest

/// One fault at a time, each with its reason; the test itself answers the leaf's signature check.
@Suite struct AttestationReasonTests {
    typealias Change = @Sendable (inout MadeAttestation) -> Void

    @Test func `an attestation without a fault is valid`() throws {
        let evidence = try MadeAttestation().verdict().get()
        #expect(evidence.environment == .production)
        #expect(evidence.appID == MadeAttestation.appID)
        #expect(evidence.publicKey.x963 == MadeLeaf.basePoint)
        #expect(evidence.leafNotBefore.milliseconds == 1_796_083_200_000)
        #expect(evidence.leafNotAfter.milliseconds == 1_796_342_400_000)
        #expect(evidence.receipt == nil)
        #expect(evidence.validationCategory == nil)
    }

    @Test func `the leaf's signature is judged before everything that the leaf vouches for`() throws {
        #expect(try MadeAttestation().verdict(answer: false).code == "chain")
        var mixed = MadeAttestation()
        mixed.counter = [0, 0, 0, 1]
        #expect(try mixed.verdict(answer: false).code == "chain")
        #expect(try mixed.verdict(at: EvaluationTime(milliseconds: 0), answer: false).code == "chain")
    }

    private static let cases: [(String, Change)] = [
        // A cdHash, other flags, a map with and without ED, an intermediate with another curve.
        ("valid", { $0.moreMembers = [("cdHash", CBORText.map([("hash", CBORText.bytes([1]))]))] }),
        ("valid", { ($0.flags, $0.rest) = (0xC0, CBORText.map([])) }),
        ("valid", { $0.rest = CBORText.map([]) }),
        ("valid", { ($0.flags, $0.rest) = (0xFF, CBORText.map([])) }),
        ("valid", { $0.flags = 0x7F }),
        ("valid", { $0.intermediate = TestAuthority.p256 }),
        ("malformed-attestation", { $0.moreMembers = [("fmt", CBORText.text("apple-appattest"))] }),
        ("malformed-attestation", { $0.format = CBORText.bytes(Array("apple-appattest".utf8)) }),
        ("malformed-attestation", { $0.chain = [CBORText.text("leaf"), CBORText.bytes([])] }),
        ("malformed-attestation", { $0.chain = [CBORText.bytes([UInt8](repeating: 0, count: 4097))] }),
        ("malformed-attestation", { $0.intermediate = [UInt8](repeating: 0, count: 4097) }),
        ("malformed-attestation", { $0.receipt = CBORText.text("receipt") }),
        ("malformed-attestation", { $0.flags = 0xC0 }),
        ("malformed-attestation", { $0.receipt = CBORText.bytes([UInt8](repeating: 0, count: 8193)) }),
        ("malformed-attestation", { $0.moreMembers = [("x", CBORText.bytes([UInt8](repeating: 0, count: 16_384)))] }),
        ("bad-format", { $0.format = CBORText.text("apple") }),
        ("bad-format", { $0.format = CBORText.text("apple-appattest ") }),
        ("bad-certificate", { $0.chain = [] }),
        ("bad-certificate", { $0.chain = [CBORText.bytes(MadeLeaf().der)] }),
        ("bad-certificate", { $0.chain = Array(repeating: CBORText.bytes(MadeLeaf().der), count: 3) }),
        ("bad-certificate", { $0.leaf.version = [] }),
        ("bad-certificate", { $0.intermediate = [] }),
        ("bad-certificate", { $0.intermediate.append(0) }),
        ("bad-certificate", { $0.intermediate = TestAuthority.p521 }),
        ("bad-certificate", { $0.intermediate = TestAuthority.unknownCritical }),
        ("chain", { $0.intermediate = TestAuthority.notCA }),
        ("chain", { $0.intermediate = TestAuthority.mayNotSign }),
        ("chain", { $0.intermediate = TestAuthority.ofOtherRoot }),
        ("chain", { $0.intermediate = TestAuthority.root }),
        ("chain", { $0.intermediate[$0.intermediate.count - 1] ^= 1 }),
        ("chain", { $0.leaf.issuer = DER.sequence() }),
        ("chain", { ($0.intermediate, $0.leaf.signature) = (TestAuthority.p256, DER.bits([0x30, 0x00])) }),
        ("nonce-missing", { $0.addsNonce = false }),
        ("nonce-missing", { ($0.addsNonce, $0.leaf.extensionField) = (false, []) }),
        ("nonce-malformed", { $0.setNonce([]) }),
        ("nonce-malformed", { $0.setNonce([0x30, 0x24, 0xA1, 0x22, 0x04]) }),
        ("nonce-malformed", { $0.setNonce([0x30, 0x24, 0xA2, 0x22, 0x04, 0x20] + [UInt8](repeating: 0, count: 32)) }),
        ("nonce-malformed", { $0.setNonce([0x30, 0x24, 0xA1, 0x22, 0x04, 0x20] + [UInt8](repeating: 0, count: 31)) }),
        ("nonce-malformed", { $0.setNonce([0x30, 0x24, 0xA1, 0x22, 0x04, 0x20] + [UInt8](repeating: 0, count: 33)) }),
        ("nonce-mismatch", { $0.setNonce([0x30, 0x24, 0xA1, 0x22, 0x04, 0x20] + [UInt8](repeating: 0, count: 32)) }),
        ("flags", { $0.flags = 0x00 }),
        ("flags", { ($0.flags, $0.rest) = (0xBF, CBORText.map([])) }),
        ("flags", { ($0.flags, $0.authDataLength) = (0x80, 37) }),
        ("malformed-authdata", { $0.authDataLength = 0 }),
        ("malformed-authdata", { $0.authDataLength = 36 }),
        ("malformed-authdata", { $0.authDataLength = 37 }),
        ("malformed-authdata", { $0.authDataLength = 163 }),
        ("malformed-authdata", { $0.rest = [0x00] }),
        ("malformed-authdata", { $0.rest = CBORText.map([]) + CBORText.map([]) }),
        ("key-type", { $0.leaf.keyInfo = DER.sequence(AlgorithmIdentifier.p256, DER.bits([0x04])) }),
        ("app-id-mismatch", { $0.rpIDHash[31] ^= 1 }),
        ("counter-not-zero", { $0.counter = [0, 0, 0, 1] }),
        ("counter-not-zero", { $0.counter = [0x80, 0, 0, 0] }),
        ("aaguid-unknown", { $0.aaguid = Array("appattestsandbox".utf8) }),
        ("aaguid-unknown", { $0.aaguid = [UInt8](repeating: 0, count: 16) }),
        ("aaguid-unknown", { $0.aaguid = Array("appattest".utf8) + [0, 0, 0, 0, 0, 0, 1] }),
        ("aaguid-unknown", { $0.aaguid = [0] + Array("appattest".utf8) + [0, 0, 0, 0, 0, 0] }),
        ("environment-mismatch", { $0.aaguid = MadeAttestation.development }),
        ("credential-id-length", { $0.credentialIDLength = [0x00, 0x21] }),
        ("credential-id-length", { $0.credentialIDLength = [0x01, 0x20] }),
        ("credential-id-mismatch", { $0.credentialID[0] ^= 1 }),
        ("cose-key-mismatch", { $0.coseKey[4] = 0x25 }),
        ("cose-key-mismatch", { $0.coseKey[10] ^= 1 }),
        ("cose-key-mismatch", { $0.coseKey[44] ^= 1 }),
        ("cose-key-mismatch", { $0.coseKey[76] ^= 1 }),
    ]

    @Test(arguments: cases)
    func `one fault has its reason, and what may differ has none`(_ code: String, _ change: Change) throws {
        var attestation = MadeAttestation()
        change(&attestation)
        #expect(try attestation.verdict().code == code)
    }

    @Test func `a key ID that differs from the key's is refused`() throws {
        let other = KeyID(SHA256.hash([1]))
        #expect(try MadeAttestation().verdict(keyID: other).code == "keyid-mismatch")
    }

    @Test(arguments: [0, 1025]) func `an empty or too long hash is malformed`(_ count: Int) throws {
        let hash = [UInt8](repeating: 0, count: count)
        // No signature is asked for.
        #expect(try MadeAttestation().verdict(clientDataHash: hash, answer: false).code == "malformed-attestation")
    }

    /// The leaf's signature covers its dates, the root's lie within the intermediate's.
    @Test(
        arguments: [
            ("261201000000Z", "261204000000Z", 1_796_083_199_999, "expired-or-not-yet-valid:leaf"),
            ("261201000000Z", "261204000000Z", 1_796_083_200_000, "valid"),
            ("261201000000Z", "261204000000Z", 1_796_342_400_000, "valid"),
            ("261201000000Z", "261204000000Z", 1_796_342_400_001, "expired-or-not-yet-valid:leaf"),
            ("200101000000Z", "491231000000Z", 1_795_000_000_000, "expired-or-not-yet-valid:intermediate"),
            ("200101000000Z", "491231000000Z", 2_120_000_000_000, "expired-or-not-yet-valid:root"),
            ("200101000000Z", "491231000000Z", 2_230_000_000_000, "expired-or-not-yet-valid:intermediate"),
        ] as [(String, String, Int64, String)]
    )
    func `each certificate's dates are judged as of the evaluation time`(
        _ notBefore: String,
        _ notAfter: String,
        _ time: Int64,
        _ code: String
    ) throws {
        var attestation = MadeAttestation()
        attestation.leaf.validity = DER.sequence(MadeLeaf.utc(notBefore), MadeLeaf.utc(notAfter))
        #expect(try attestation.verdict(at: EvaluationTime(milliseconds: time)).code == code)
    }

    @Test(arguments: [
        (EntryPolicy<UInt32>(allow: [4]), EntryPolicy<ExactText>(), "category-not-allowed"),
        (EntryPolicy(allow: [3]), EntryPolicy(allow: ["1"]), "bundle-version-not-allowed"),
        (EntryPolicy(allow: [4]), EntryPolicy(allow: ["1"]), "category-not-allowed"),
        (EntryPolicy(allow: [3]), EntryPolicy(allow: ["1314"]), "valid"),
    ])
    func `entries are judged by policy, category first`(
        _ categories: EntryPolicy<UInt32>,
        _ bundleVersions: EntryPolicy<ExactText>,
        _ code: String
    ) throws {
        var attestation = MadeAttestation()
        attestation.flags = 0xC0
        attestation.rest = CBORText.map([
            ("apple_bundle_version_01", CBORText.text("1314")),
            ("apple_validation_category_01", CBORText.bytes([3, 0, 0, 0])),
        ])
        let expectations = Expectations(
            appIDs: [MadeAttestation.appID],
            categories: categories,
            bundleVersions: bundleVersions
        )
        #expect(try attestation.verdict(expectations).code == code)
    }

    @Test func `missing entries are refused if the policy says so`() throws {
        let appIDs = [MadeAttestation.appID]
        let noCategory = Expectations(appIDs: appIDs, categories: EntryPolicy(whenMissing: .refuse))
        #expect(try MadeAttestation().verdict(noCategory).code == "category-missing")
        let noVersion = Expectations(appIDs: appIDs, bundleVersions: EntryPolicy(whenMissing: .refuse))
        #expect(try MadeAttestation().verdict(noVersion).code == "bundle-version-missing")
    }

    @Test func `one of several App IDs matches and is reported`() throws {
        let appIDs = [AppID("OTHER.com.example.app"), MadeAttestation.appID]
        #expect(try MadeAttestation().verdict(Expectations(appIDs: appIDs)).get().appID == MadeAttestation.appID)
        #expect(try MadeAttestation().verdict(Expectations(appIDs: [])).code == "app-id-mismatch")
    }

    @Test(arguments: [(ReceiptPolicy.report, "valid"), (.ignore, "valid"), (.require, "receipt:missing")])
    func `an absent receipt is judged by policy`(_ policy: ReceiptPolicy, _ code: String) throws {
        let expectations = Expectations(appIDs: [MadeAttestation.appID], receipt: policy)
        let verdict = try MadeAttestation().verdict(expectations)
        #expect(verdict.code == code)
        if case .success(let evidence) = verdict { #expect(evidence.receipt == nil) }
    }

    @Test func `bytes that are not a receipt are ignored, reported or refused by policy`() throws {
        var attestation = MadeAttestation()
        attestation.receipt = CBORText.bytes([0x30, 0x00])
        let appIDs = [MadeAttestation.appID]
        #expect(try attestation.verdict(Expectations(appIDs: appIDs, receipt: .ignore)).get().receipt == nil)
        let reported = try attestation.verdict(Expectations(appIDs: appIDs, receipt: .report)).get()
        #expect(reported.receipt?.refusal == .malformed)
        #expect(try attestation.verdict(Expectations(appIDs: appIDs, receipt: .require)).code == "receipt:malformed")
    }
}

extension MadeAttestation {
    fileprivate mutating func setNonce(_ value: [UInt8]) {
        addsNonce = false
        leaf.extensions.append(MadeLeaf.apple(2, value))
    }
}
