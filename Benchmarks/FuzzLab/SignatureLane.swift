internal import Crypto
internal import DeviceLab

/// One thread of a ``SignatureLab``: its cases depend on seed and chunk alone.
final class SignatureLane {
    static let arithmetics = BatchArithmetic.allCases.filter {
        $0 != .lanes || BatchArithmetic.featureMissingForLanes == nil
    }

    private let seed: UInt64
    private let lab = LabBatch()
    private let openSSL = OpenSSLEngine()
    private let watch = EngineWatch(crossCheck: 0, key: 0) { _ in }
    private let engines: [(name: String, engine: BatchEngine)]
    private let issuers: [LabKey]

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
        let cases = SignatureMenu(lab, &random).checks(SignatureLab.chunk, &random)
        compare(cases, &random, &tally)
        tally.p256 += cases.count
        let leaves = leaves(SignatureLab.chunk / 50, &random)
        compare(leaves, &random, &tally)
        tally.p384 += leaves.count
        // Other lanes count for themselves.
        tally.undecided = watch.undecidedCount - before
        return tally
    }

    /// In groups of 1 to 64, once without second points and once with those of the first time.
    private func compare(_ checks: [SignatureCheck], _ random: inout SeededRandom, _ tally: inout SignatureTally) {
        let expected = openSSL.verify(checks)
        tally.valid += expected.count { $0 }
        for (name, engine) in engines {
            var start = 0
            while start < checks.count {
                let size = random.next() % 2 == 0 ? 64 : 1 + Int(random.next() % 64)
                let range = start..<min(start + size, checks.count)
                var answers = SignatureAnswers()
                engine.verify(Array(checks[range]), into: &answers)
                note(name, answers.isValid, Array(expected[range]), at: start, &tally)
                let known = Self.with(answers.seconds, Array(checks[range]))
                note(name + " with second points", engine.verify(known), Array(expected[range]), at: start, &tally)
                start = range.upperBound
            }
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
        tally.mistake("\(name): signature \(place) of the group at \(start) is not what OpenSSL says; seed \(seed)")
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
