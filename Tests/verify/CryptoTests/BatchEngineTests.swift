import TestKit
import Testing

@testable import Crypto

/// The engines of our own against OpenSSL, over edges and single faults.
struct BatchEngineTests {
    static func engine(_ arithmetic: BatchArithmetic, crossCheck: Int = 0) -> BatchEngine {
        BatchEngine(arithmetic, watch: watch(crossCheck))
    }

    static func watch(_ crossCheck: Int) -> EngineWatch {
        EngineWatch(crossCheck: crossCheck, key: 7) { Issue.record("\($0)") }
    }

    @Test(arguments: usable, [true, false])
    func `the self-test passes`(arithmetic: BatchArithmetic, inGroups: Bool) {
        #expect(EngineTest.failure(of: arithmetic, inGroups: inGroups) == nil)
    }

    /// Answers with what belongs to another place of a group of eight.
    private final class MixedUp: SignatureEngine {
        private let alter: ([SignatureCheck], Int) -> SignatureCheck
        private let openSSL = OpenSSLEngine()

        init(_ alter: @escaping ([SignatureCheck], Int) -> SignatureCheck) { self.alter = alter }

        func verify(_ checks: [SignatureCheck]) -> [Bool] {
            openSSL.verify(checks.indices.map { alter(checks, $0) })
        }
    }

    @Test func `the self-test without groups finds an engine that looks at the first signature alone`() {
        var first: SignatureCheck?
        let engine = MixedUp { checks, _ in
            first = first ?? checks[0]
            return first ?? checks[0]
        }
        #expect(EngineTest.failure(of: engine, inGroups: false) == "it accepts an invalid P-256 signature")
    }

    @Test func `the self-test finds lanes that read each other's keys, digests, signatures or answers`() {
        #expect(EngineTest.failure(of: MixedUp { $0[$1] }) == nil)
        func mixed(_ body: @escaping (SignatureCheck, SignatureCheck) -> SignatureCheck) -> String? {
            EngineTest.failure(of: MixedUp { checks, place in body(checks[place], checks[place & ~7]) })
        }
        let keys = mixed { own, other in
            guard case .p256(_, let digest, let signature) = own, case .p256(let key, _, _) = other else { return own }
            return .p256(key: key, digest: digest, signature: signature)
        }
        let digests = mixed { own, other in
            switch (own, other) {
            case (.p256(let key, _, let signature), .p256(_, let digest, _)):
                .p256(key: key, digest: digest, signature: signature)
            case (.p384(let key, _, let der), .p384(_, let digest, _)): .p384(key: key, digest: digest, signature: der)
            default: own
            }
        }
        let leaves = mixed { own, other in
            guard case .p384(let key, let digest, _) = own, case .p384(_, _, let der) = other else { return own }
            return .p384(key: key, digest: digest, signature: der)
        }
        let answers = mixed { $1 }
        #expect(
            keys?.contains("P-256") == true && digests != nil && leaves?.contains("P-384") == true && answers != nil
        )
    }

    @Test(arguments: usable)
    func `every place of every group size has its own answer`(arithmetic: BatchArithmetic) {
        let (engine, cases) = (Self.engine(arithmetic), SignatureCases(seed: 1))
        let valid = (0..<70).map { cases.valid($0) }
        for count in Array(1...17) + [31, 32, 33, 63, 64, 65, 70] {
            let bad = count / 2
            var checks = Array(valid.prefix(count))
            checks[bad] = cases.altered(checks[bad], bit: 8 * count)
            #expect(engine.verify(checks) == (0..<count).map { $0 != bad }, "\(count) signatures")
        }
    }

    @Test(arguments: usable)
    func `a key has the same answers the first time and later, and where none is remembered`(
        arithmetic: BatchArithmetic
    ) {
        let cases = SignatureCases(seed: 2)
        var checks = (0..<30).map { cases.valid($0) }
        for bad in [5, 22] { checks[bad] = cases.altered(checks[bad], bit: 77) }
        let expected = checks.indices.map { $0 != 5 && $0 != 22 }
        for byteCount in [0, 1 << 20] {
            let points = KeyPointCache(byteCount: byteCount)
            let engine = BatchEngine(arithmetic, watch: Self.watch(0), points: points)
            for _ in 0..<3 { #expect(engine.verify(checks) == expected) }
            // A signature that is refused keeps no key.
            #expect(points.count == (byteCount == 0 ? 0 : 13))
        }
    }

    @Test(arguments: usable)
    func `edges and single faults have OpenSSL's answers`(arithmetic: BatchArithmetic) throws {
        let (engine, openSSL) = (Self.engine(arithmetic), OpenSSLEngine())
        let checks = try SignatureCases(seed: 4).edges()
        let expected = openSSL.verify(checks)
        #expect(expected.contains(true) && expected.contains(false))
        #expect(engine.verify(checks) == expected)
        for (place, check) in checks.enumerated() {
            #expect(engine.verify([check]) == [expected[place]], "case \(place) alone")
        }
        #expect(engine.verify(checks.reversed()) == expected.reversed())
    }

    @Test(arguments: WycheproofTests.Engine.usable)
    func `any bit of r, s, digest or key that changes refuses the signature, and no other`(
        kind: WycheproofTests.Engine
    ) {
        let (engine, cases) = (kind.make(), SignatureCases(seed: 5))
        let valid = cases.valid(0)
        for start in stride(from: 0, to: 1280, by: 160) {
            let checks = (start..<start + 160).map { cases.altered(valid, bit: $0) } + [valid]
            #expect(engine.verify(checks) == checks.indices.map { $0 == checks.count - 1 })
        }
    }

    @Test(arguments: usable)
    func `a P-384 signature has OpenSSL's answer, whatever stands beside it`(arithmetic: BatchArithmetic) {
        let (engine, cases) = (Self.engine(arithmetic), SignatureCases(seed: 6))
        let issuers = (0..<3).map { LabKey(.p384, seed: [UInt8($0)]) }
        var checks: [SignatureCheck] = []
        for index in 0..<24 {
            checks.append(cases.leaf(index, of: issuers[index % 3], isValid: index % 5 != 0))
            if index % 4 == 0 { checks.append(cases.valid(index)) }
        }
        #expect(engine.verify(checks) == OpenSSLEngine().verify(checks))
    }
}

/// The sample of answers that OpenSSL judges too.
struct CrossCheckTests {
    private final class Alarms: @unchecked Sendable {
        // Called by the test's own thread.
        var sentences: [String] = []
    }

    @Test(arguments: usable)
    func `an answer that is not OpenSSL's stops the engine, and OpenSSL judges the group again`(
        arithmetic: BatchArithmetic
    ) throws {
        let (alarms, cases) = (Alarms(), SignatureCases(seed: 8))
        let watch = EngineWatch(crossCheck: 1, key: 1) { alarms.sentences.append($0) }
        let points = KeyPointCache(byteCount: 1 << 20)
        let engine = BatchEngine(arithmetic, watch: watch, points: points)
        let checks = (0..<4).map { cases.valid($0) }
        #expect(engine.verify(checks) == [true, true, true, true])
        #expect(alarms.sentences.isEmpty && !watch.isStopped)
        // Another key's multiples make the engine refuse a valid signature.
        let numbers = Numbers(count: KeyPointCacheTests.pointWords)
        let isKnown = points.copy(Self.key(of: checks[0]), to: numbers, at: 0)
        #expect(isKnown)
        points.insert(Self.key(of: checks[1]), from: numbers, at: 0)
        #expect(engine.verify(checks) == [true, true, true, true])
        #expect(watch.isStopped)
        #expect(alarms.sentences.count == 1)
        #expect(alarms.sentences.first?.contains("refused a P-256 signature") == true)
        #expect(engine.verify(checks + [cases.altered(checks[0], bit: 3)]) == [true, true, true, true, false])
        #expect(alarms.sentences.count == 1)
    }

    private static func key(of check: SignatureCheck) -> P256PublicKey {
        guard case .p256(let key, _, _) = check else { preconditionFailure("a P-256 signature") }
        return key
    }

    @Test func `without a cross-check nothing is compared, with one in ten about a tenth`() throws {
        let cases = SignatureCases(seed: 9)
        let checks = (0..<40).map { cases.valid($0) }
        for (share, range) in [(0, 0...0), (1, 400...400), (10, 5...110)] {
            let watch = BatchEngineTests.watch(share)
            let engine = BatchEngine(.portable, watch: watch)
            for turn in 0..<10 { _ = engine.verify(checks.map { cases.altered($0, bit: turn) }) }
            #expect(range.contains(watch.comparedCount), "one in \(share): \(watch.comparedCount)")
        }
    }

    @Test func `a check that comes again and again is compared now and then`() throws {
        let (watch, cases) = (BatchEngineTests.watch(10), SignatureCases(seed: 11))
        let (engine, check) = (BatchEngine(.portable, watch: watch), cases.altered(cases.valid(0), bit: 5))
        for _ in 0..<400 { #expect(engine.verify([check]) == [false]) }
        #expect((5...110).contains(watch.comparedCount), "\(watch.comparedCount)")
    }

    @Test func `accepted and refused answers are compared alike`() throws {
        let (watch, cases) = (BatchEngineTests.watch(1), SignatureCases(seed: 10))
        let valid = cases.valid(0)
        #expect(BatchEngine(.portable, watch: watch).verify([valid, cases.altered(valid, bit: 1)]) == [true, false])
        #expect(watch.comparedCount == 2)
    }
}
