import Crypto
import Synchronization
import TestKit
import Testing

/// Takes alarms from any thread.
private final class Alarms: Sendable {
    private let count = Atomic<Int>(0)
    var posted: Int { count.load(ordering: .relaxed) }
    var post: SigningLibrary.Alarm { { _ in self.count.add(1, ordering: .relaxed) } }
}

/// What a library signs and what OpenSSL does, with a fake in the library's place.
@Suite struct TokenSignerTests {
    private static let digests = (0..<40).map { SHA256.hash([UInt8($0), 1]) }
    /// Made once: that takes longer than the tests.
    private static let rsaKeys = Result { try (0..<2).map { _ in try SigningKey.generate(.rsa) } }
    private static let hasIFMA = BatchArithmetic.featureMissingForIFMA == nil

    private static func requests(_ key: SigningKey, _ count: Int) -> [SigningRequest] {
        digests.prefix(count).map { SigningRequest(key: key, digest: $0) }
    }

    private static func areValid(_ signatures: [[UInt8]], _ key: SigningKey) -> Bool {
        zip(signatures, digests).allSatisfy { key.publicKey.isValid($0.span, of: $1) }
    }

    @Test(arguments: [(0, 0), (1, 0), (4, 0), (5, 5), (8, 8), (12, 8), (13, 13), (16, 16), (20, 16), (40, 40)])
    func `RSA: the library signs from five on, with OpenSSL's bytes`(count: Int, byLibrary: Int) throws {
        let (key, fake) = (try Self.rsaKeys.get()[0], FakeGroupSigner())
        let library = SigningLibrary(fake, engine: nil) { Issue.record("\($0)") }
        let signer = TokenSigner(library, keys: [("k", key)])
        #expect(signer.usesLibrary(for: key))
        let signatures = signer.sign(Self.requests(key, count), SigningScratch())
        #expect(signatures == Self.digests.prefix(count).map { key.sign($0) })
        #expect(library.signedCount == byLibrary)
        #expect(fake.groupCount == FakeGroupSigner.testGroups + (byLibrary + 7) / 8)
    }

    @Test(.enabled(if: hasIFMA), arguments: [(5, 0), (6, 6), (13, 8), (14, 14), (40, 40)])
    func `ES256: the library signs from six on`(count: Int, byLibrary: Int) throws {
        let key = try SigningKey.generate(.p256)
        let library = SigningLibrary(FakeGroupSigner(), engine: BatchEngineTests.watch(0)) { Issue.record("\($0)") }
        let signatures = TokenSigner(library, keys: [("k", key)]).sign(Self.requests(key, count), SigningScratch())
        #expect(signatures.count == count && Self.areValid(signatures, key))
        #expect(library.signedCount == byLibrary)
    }

    @Test(arguments: [(SigningKey.Kind.p256, [SigningKey.Kind.rsa, .p256]), (.rsa, [.p256])])
    func `ES256 without an engine, and a key that the library has no operation for, stay with OpenSSL`(
        kind: SigningKey.Kind,
        ofLibrary: [SigningKey.Kind]
    ) throws {
        let key = try kind == .rsa ? Self.rsaKeys.get()[0] : SigningKey.generate(.p256)
        let fake = FakeGroupSigner(kinds: Set(ofLibrary))
        let signer = TokenSigner(SigningLibrary(fake, engine: nil) { Issue.record("\($0)") }, keys: [("k", key)])
        #expect(!signer.usesLibrary(for: key))
        let signatures = signer.sign(Self.requests(key, 16), SigningScratch())
        #expect(signatures.count == 16 && Self.areValid(signatures, key))
        #expect(fake.groupCount == 0)
    }

    @Test(arguments: FakeGroupSigner.Fault.allCases, 0..<GroupSize.group)
    func `an RSA signature that is wrong never leaves, and stops the library`(
        fault: FakeGroupSigner.Fault,
        place: Int
    ) throws {
        let alarms = Alarms()
        let key = try SigningKey(pem: Array(KeyFixtures.rsa.utf8))
        let fake = FakeGroupSigner(fault, after: FakeGroupSigner.testGroups + 1, place: place)
        let library = SigningLibrary(fake, engine: nil, alarm: alarms.post)
        let signer = TokenSigner(library, keys: [("k", key)])
        // The first of two groups is right, the second is not.
        let expected = Self.digests.prefix(16).map { key.sign($0) }
        for _ in 0..<2 { #expect(signer.sign(Self.requests(key, 16), SigningScratch()) == expected) }
        #expect(library.isStopped && library.signedCount == 0 && alarms.posted == 1)
        #expect(fake.groupCount == FakeGroupSigner.testGroups + 2)
    }

    @Test(.enabled(if: hasIFMA), arguments: FakeGroupSigner.Fault.allCases, 0..<GroupSize.group)
    func `an ES256 signature that is wrong never leaves, and stops the library`(
        fault: FakeGroupSigner.Fault,
        place: Int
    ) throws {
        let alarms = Alarms()
        let key = try SigningKey(pem: Array(KeyFixtures.p256.utf8))
        let fake = FakeGroupSigner(fault, after: FakeGroupSigner.testGroups, place: place)
        let library = SigningLibrary(fake, engine: BatchEngineTests.watch(0), alarm: alarms.post)
        let signatures = TokenSigner(library, keys: [("k", key)]).sign(Self.requests(key, 8), SigningScratch())
        #expect(signatures.count == 8 && Self.areValid(signatures, key))
        #expect(library.isStopped && library.signedCount == 0 && alarms.posted == 1)
    }

    @Test(arguments: FakeGroupSigner.Fault.allCases, [0, 7])
    func `a key that fails its test stays with OpenSSL, with an alarm; the others do not`(
        fault: FakeGroupSigner.Fault,
        place: Int
    ) throws {
        let alarms = Alarms()
        let keys = try Self.rsaKeys.get()
        // The first key's groups are right, the second's are wrong in the last turn of its test.
        let fake = FakeGroupSigner(fault, after: 2 * FakeGroupSigner.testGroups - 1, place: place)
        let library = SigningLibrary(fake, engine: nil, alarm: alarms.post)
        let signer = TokenSigner(library, keys: keys.map { ("k", $0) })
        #expect(keys.map { signer.usesLibrary(for: $0) } == [true, false])
        #expect(alarms.posted == 1 && !library.isStopped)
    }

    @Test func `digests of two keys in turn are signed with their own`() throws {
        let keys = try Self.rsaKeys.get()
        let library = SigningLibrary(FakeGroupSigner(), engine: nil) { Issue.record("\($0)") }
        let signer = TokenSigner(library, keys: keys.map { ("k", $0) })
        let requests = Self.digests.prefix(14).enumerated().map {
            SigningRequest(key: keys[$0.offset % 2], digest: $0.element)
        }
        #expect(signer.sign(requests, SigningScratch()) == requests.map { $0.key.sign($0.digest) })
        #expect(library.signedCount == 14)
    }

    @Test func `OpenSSL alone signs without a library`() throws {
        let key = try Self.rsaKeys.get()[0]
        let signatures = TokenSigner().sign(Self.requests(key, 9), SigningScratch())
        #expect(signatures == Self.digests.prefix(9).map { key.sign($0) })
    }
}
