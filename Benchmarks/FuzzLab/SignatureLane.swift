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
    private let issuers: [LabKey]
    /// Those of the chunk's keys that are known.
    private var seconds: [P256PublicKey: P256SecondPoint] = [:]

    init(seed: UInt64) {
        self.seed = seed
        let tables = P384Tables()
        issuers = lab.keys(.p384, seeds: (0..<4).map { [UInt8($0)] })
        for issuer in issuers { if let key = P384PublicKey(x963: issuer.x963) { tables.prepare(key) } }
        let watch = watch
        engines = Self.arithmetics.map { ($0.rawValue, BatchEngine($0, watch: watch, tables: tables)) }
    }

    func run(chunk: Int) -> SignatureTally {
        var random = SeededRandom(seed: seed &* 0x9E37_79B9_7F4A_7C15 &+ UInt64(chunk))
        var tally = SignatureTally()
        let before = watch.undecidedCount
        seconds.removeAll(keepingCapacity: true)
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

    /// In groups of 1 to 64: by the first engine with the second points that are known of before; one group in eight by
    /// every engine, without second points and then with those that it computed.
    private func compare(_ checks: [SignatureCheck], _ random: inout SeededRandom, _ tally: inout SignatureTally) {
        var start = 0
        while start < checks.count {
            let size = random.next() % 2 == 0 ? 64 : 1 + Int(random.next() % 64)
            let group = Array(checks[start..<min(start + size, checks.count)])
            let expected = openSSL.verify(group)
            tally[.valid] += expected.count { $0 }
            if random.next() % 8 == 0 {
                for (name, engine) in engines { compareTwice(name, engine, group, expected, at: start, &tally) }
            } else {
                let (name, engine) = engines[0]
                note(name + " with second points", verify(engine, group), expected, at: start, &tally)
            }
            start += group.count
        }
    }

    private func compareTwice(
        _ name: String,
        _ engine: BatchEngine,
        _ group: [SignatureCheck],
        _ expected: [Bool],
        at start: Int,
        _ tally: inout SignatureTally
    ) {
        var answers = SignatureAnswers()
        engine.verify(group, into: &answers)
        note(name, answers.isValid, expected, at: start, &tally)
        let known = Self.with(answers.secondPoints, group)
        note(name + " with second points", engine.verify(known), expected, at: start, &tally)
    }

    /// With the second points of keys that came before, as a ledger keeps them.
    private func verify(_ engine: BatchEngine, _ group: [SignatureCheck]) -> [Bool] {
        var known: [(place: Int, second: P256SecondPoint)] = []
        for (place, check) in group.enumerated() {
            guard case .p256(let key, _, _, _) = check, let second = seconds[key] else { continue }
            known.append((place, second))
        }
        var answers = SignatureAnswers()
        engine.verify(Self.with(known, group), into: &answers)
        for (place, second) in answers.secondPoints {
            guard case .p256(let key, _, _, _) = group[place] else { continue }
            seconds[key] = second
        }
        return answers.isValid
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

    private static func with(
        _ seconds: [(place: Int, second: P256SecondPoint)],
        _ checks: [SignatureCheck]
    ) -> [SignatureCheck] {
        var checks = checks
        for (place, second) in seconds {
            guard case .p256(let key, let digest, let signature, _) = checks[place] else { continue }
            checks[place] = .p256(key: key, digest: digest, signature: signature, second: second)
        }
        return checks
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
