internal import CProcessorProbe
internal import Crypto
internal import DeviceLab
internal import Foundation

/// The signature engines alone, beside OpenSSL's cheapest calls on the same signatures.
struct EngineCandidates {
    private let fixtures: Fixtures
    private let scale: Int

    init(_ fixtures: Fixtures, scale: Int) {
        self.fixtures = fixtures
        self.scale = scale
    }

    /// The processor, and what it does of the lanes' multiplication in a cycle: two on some, one on others.
    static var processor: String {
        let lines = (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8))?.split(separator: "\n") ?? []
        func value(_ name: String) -> String? {
            lines.first { $0.hasPrefix(name + "\t") }?.split(separator: ":").last.map {
                $0.trimmingCharacters(in: .whitespaces)
            }
        }
        let rate = String(format: "%.2f", probe_madd52_per_cycle())
        return "\(value("model name") ?? "unknown processor"), family \(value("cpu family") ?? "?"), "
            + "model \(value("model") ?? "?"), \(rate) vpmadd52 a cycle"
    }

    private static var arithmetics: [BatchArithmetic] {
        BatchArithmetic.allCases.filter { $0 != .lanes || BatchArithmetic.featureMissingForLanes == nil }
    }

    func p256() -> [Candidate] {
        let samples = fixtures.bareSamples()
        let (bare, count) = (BareVerify(samples), scale * 64)
        let cold = samples.map { SignatureCheck.p256(key: $0.key, digest: $0.digest, signature: $0.signature) }
        let warm = samples.map { sample in
            SignatureCheck.p256(
                key: sample.key,
                digest: sample.digest,
                signature: sample.signature,
                second: P256SecondPoint(of: sample.key)
            )
        }
        var candidates = [
            Candidate("OpenSSL P-256 verify, bare") {
                precondition(bare.run(count) == count, "valid signatures")
                return count
            }
        ]
        for arithmetic in Self.arithmetics {
            let name = arithmetic.rawValue
            for size in [64, 32, 8, 1] {
                candidates.append(groups("\(name), groups of \(size)", warm, size, arithmetic, count))
            }
            candidates.append(groups("\(name), groups of 64, keys not seen before", cold, 64, arithmetic, count))
        }
        return candidates
    }

    func p384() -> [Candidate] {
        let issuer = LabKey(.p384, seed: Array("issuer".utf8))
        guard let key = P384PublicKey(x963: issuer.x963) else { preconditionFailure("the lab makes points") }
        let tables = P384Tables()
        tables.prepare(key)
        let checks = (0..<64).map { index in
            let digest = SHA256.hash([UInt8(index)])
            return SignatureCheck.p384(key: key, digest: digest, signature: issuer.sign(digest: digest.bytes).der)
        }
        let openSSL = OpenSSLEngine()
        let count = scale * 4
        var candidates = [
            Candidate("OpenSSL P-384 verify, cached key") {
                for index in 0..<count { precondition(openSSL.isValid(checks[index % 64]), "valid signatures") }
                return count
            }
        ]
        for arithmetic in Self.arithmetics {
            for size in [64, 8, 1] {
                let name = "\(arithmetic.rawValue), groups of \(size)"
                candidates.append(groups(name, checks, size, arithmetic, scale * 64, tables))
            }
        }
        return candidates
    }

    private func groups(
        _ name: String,
        _ checks: [SignatureCheck],
        _ size: Int,
        _ arithmetic: BatchArithmetic,
        _ count: Int,
        _ tables: P384Tables = P384Tables()
    ) -> Candidate {
        let watch = EngineWatch(crossCheck: 0, key: 0) { _ in }
        let engine = BatchEngine(arithmetic, watch: watch, tables: tables)
        let groups = stride(from: 0, to: checks.count - size + 1, by: size).map { Array(checks[$0..<($0 + size)]) }
        var answers = SignatureAnswers()
        return Candidate(name) {
            var done = 0
            while done < count {
                engine.verify(groups[done / size % groups.count], into: &answers)
                precondition(!answers.isValid.contains(false), "valid signatures")
                done += size
            }
            return done
        }
    }
}
