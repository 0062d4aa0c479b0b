internal import Crypto
internal import DeviceLab

/// One thread of a ``SignatureLab``: its cases depend on seed and chunk alone.
final class SignatureLane {
    static let arithmetics = BatchArithmetic.allCases.filter {
        $0 != .ifma || BatchArithmetic.featureMissingForIFMA == nil
    }

    private let seed: UInt64
    private let lab = LabBatch()
    private let openSSL = OpenSSLEngine()
    private let watch = EngineWatch(crossCheck: 0, key: 0) { _ in }
    private let engines: [(name: String, engine: BatchEngine)]
    /// Engines that see each key for the first time.
    private let forgetful: [BatchEngine]
    private let issuers: [LabKey]

    init(seed: UInt64) {
        self.seed = seed
        let tables = P384Tables()
        issuers = lab.keys(.p384, seeds: (0..<4).map { [UInt8($0)] })
        for issuer in issuers { if let key = P384PublicKey(x963: issuer.x963) { tables.prepare(key) } }
        let watch = watch
        engines = Self.arithmetics.map { ($0.rawValue, BatchEngine($0, watch: watch, tables: tables)) }
        forgetful = Self.arithmetics.map {
            BatchEngine($0, watch: watch, points: KeyPointCache(byteCount: 0), tables: tables)
        }
    }

    func run(chunk: Int) -> SignatureTally {
        var random = SeededRandom(seed: seed &* 0x9E37_79B9_7F4A_7C15 &+ UInt64(chunk))
        var tally = SignatureTally()
        let before = watch.undecidedCount
        let cases = SignatureMenu(lab, &random).checks(SignatureLab.chunk, &random)
        compare(cases, &random, &tally)
        tally[.p256] += cases.count
        let leaves = leaves(SignatureLab.chunk / 10, &random)
        compareLeaves(leaves, &random, &tally)
        tally[.p384] += leaves.count
        // Other lanes count for themselves.
        tally[.undecided] = watch.undecidedCount - before
        return tally
    }

    /// In groups of 1 to 64: by the first engine; one group in eight by every engine, with what it knows of keys that came
    /// before and without.
    private func compare(_ checks: [SignatureCheck], _ random: inout SeededRandom, _ tally: inout SignatureTally) {
        var start = 0
        while start < checks.count {
            let size = random.next() % 2 == 0 ? 64 : 1 + Int(random.next() % 64)
            let group = Array(checks[start..<min(start + size, checks.count)])
            let expected = openSSL.verify(group)
            tally[.valid] += expected.count { $0 }
            let judges = random.next() % 8 == 0 ? engines.count : 1
            for (judge, engine) in engines.prefix(judges).enumerated() {
                note(engine.name, engine.engine.verify(group), expected, at: start, &tally)
                guard judges > 1 || engines.count == 1 else { continue }
                note(engine.name + ", new keys", forgetful[judge].verify(group), expected, at: start, &tally)
            }
            start += group.count
        }
    }

    /// By all engines, whose answers must be the same; one group in five by OpenSSL, too.
    private func compareLeaves(_ checks: [SignatureCheck], _ random: inout SeededRandom, _ tally: inout SignatureTally)
    {
        var start = 0
        while start < checks.count {
            let size = random.next() % 2 == 0 ? 64 : 1 + Int(random.next() % 64)
            let group = Array(checks[start..<min(start + size, checks.count)])
            let isWithOpenSSL = random.next() % 5 == 0 || engines.count == 1
            let expected = isWithOpenSSL ? openSSL.verify(group) : engines[1].engine.verify(group)
            if isWithOpenSSL { tally[.p384WithOpenSSL] += group.count }
            tally[.valid] += expected.count { $0 }
            for (name, engine) in engines { note(name, engine.verify(group), expected, at: start, &tally) }
            start += group.count
        }
    }

    private func note(
        _ name: String,
        _ answers: [Bool],
        _ expected: [Bool],
        at start: Int,
        _ tally: inout SignatureTally
    ) {
        guard answers != expected else { return }
        let place = zip(answers, expected).enumerated().first { $0.element.0 != $0.element.1 }?.offset ?? -1
        tally.mistake("\(name): signature \(place) of the group at \(start) is not as expected; seed \(seed)")
    }

    private func leaves(_ count: Int, _ random: inout SeededRandom) -> [SignatureCheck] {
        let digests = (0..<count).map { _ in SignatureMenu.number(&random) }
        let signers = (0..<count).map { _ in issuers[Int(random.next() % UInt64(issuers.count))] }
        let requests = zip(signers, digests).map { LabSigningRequest(key: $0, digest: $1.bytes) }
        return zip(lab.sign(requests), zip(signers, digests)).compactMap { signature, signed in
            guard let key = P384PublicKey(x963: signed.0.x963) else { return nil }
            var der = signature.der
            var digest = signed.1
            switch random.next() % 4 {
            case 0: der[Int(random.next() % UInt64(der.count))] ^= 1 << UInt8(random.next() % 8)
            case 1: digest = SignatureMenu.flipped(digest, &random)
            default: break
            }
            return .p384(key: key, digest: digest, signature: der)
        }
    }
}
