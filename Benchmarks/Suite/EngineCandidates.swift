internal import Crypto
internal import DeviceLab

/// The signature engines alone, beside OpenSSL's cheapest calls on the same signatures.
struct EngineCandidates {
    static let openSSL = "openssl"
    /// Signatures that are verified together.
    static let batches = [1, 2, 4, 8, 16, 32, 64, 128, 256]
    /// As many as a batch of the loop usually fills.
    static let usualBatch = 64

    private let fixtures: Fixtures
    private let scale: Int

    init(_ fixtures: Fixtures, scale: Int) {
        precondition(fixtures.devices.count >= Self.batches.max() ?? 0, "the largest batch can be filled")
        self.fixtures = fixtures
        self.scale = scale
    }

    /// What this processor can use, besides OpenSSL.
    static var arithmetics: [BatchArithmetic] {
        [.portable] + (BatchArithmetic.featureMissingForIFMA == nil ? [.ifma] : [])
    }

    /// Names of ours, as `engine.use` has them, the slowest first.
    static var engines: [String] { arithmetics.map(\.rawValue) }

    func p256() -> [Candidate] {
        let samples = fixtures.bareSamples()
        let (bare, count) = (BareVerify(samples), scale * 64)
        let checks = samples.map { SignatureCheck.p256(key: $0.key, digest: $0.digest, signature: $0.signature) }
        let baseline = Candidate("OpenSSL P-256 verify, bare", engine: Self.openSSL, batch: 1) {
            precondition(bare.run(count) == count, "valid signatures")
            return count
        }
        return [baseline]
            + Self.arithmetics.flatMap { arithmetic in
                Self.batches.map { batches(checks, of: $0, arithmetic, count) } + [
                    // Without a batch's size: the charts show keys that were seen.
                    batches(checks, of: Self.usualBatch, arithmetic, count, ", keys not seen before", seen: 0)
                ]
            }
    }

    func p384() -> [Candidate] {
        let issuer = LabKey(.p384, seed: Array("issuer".utf8))
        guard let key = P384PublicKey(x963: issuer.x963) else { preconditionFailure("the lab makes points") }
        let tables = P384Tables()
        tables.prepare(key)
        let checks = (0..<(Self.batches.max() ?? 0)).map { index in
            let digest = SHA256.hash([UInt8(index)])
            return SignatureCheck.p384(key: key, digest: digest, signature: issuer.sign(digest: digest.bytes).der)
        }
        let openSSL = OpenSSLEngine()
        let count = scale * 4
        let baseline = Candidate("OpenSSL P-384 verify, cached key", engine: Self.openSSL, batch: 1) {
            for index in 0..<count {
                precondition(openSSL.isValid(checks[index % checks.count]), "valid signatures")
            }
            return count
        }
        return [baseline]
            + Self.arithmetics.flatMap { arithmetic in
                Self.batches.map { batches(checks, of: $0, arithmetic, scale * 64, "", tables) }
            }
    }

    private func batches(
        _ checks: [SignatureCheck],
        of size: Int,
        _ arithmetic: BatchArithmetic,
        _ count: Int,
        _ remark: String = "",
        _ tables: P384Tables = P384Tables(),
        seen bytes: Int = 1 << 20
    ) -> Candidate {
        let watch = EngineWatch(crossCheck: 0, key: 0) { _ in }
        let points = KeyPointCache(byteCount: bytes)
        let engine = BatchEngine(arithmetic, watch: watch, points: points, tables: tables)
        let batches = stride(from: 0, to: checks.count - size + 1, by: size).map { Array(checks[$0..<($0 + size)]) }
        var answers = SignatureAnswers()
        return Candidate(
            "\(arithmetic.rawValue), batch of \(size)\(remark)",
            engine: arithmetic.rawValue,
            batch: remark.isEmpty ? size : nil
        ) {
            var done = 0
            while done < count {
                engine.verify(batches[done / size % batches.count], into: &answers)
                precondition(!answers.isValid.contains(false), "valid signatures")
                done += size
            }
            return done
        }
    }
}
