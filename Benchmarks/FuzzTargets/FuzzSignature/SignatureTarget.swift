internal import Crypto
internal import DeviceLab

/// Hostile signatures: every engine that this machine can run must answer as OpenSSL does, and no signature may change
/// the answer to another of its group.
struct SignatureTarget {
    private static let groupSize = 9
    private static let numberBytes = 32

    private let keys: [LabKey]
    private let neighbours: [SignatureCheck]
    private let openSSL = OpenSSLEngine()
    private let engines: [BatchEngine]
    /// Key and place, then the digest, r and s.
    let seeds: [[UInt8]]

    init() throws {
        let keys = (0..<8).map { LabKey(.p256, seed: [$0]) }
        let digests = keys.indices.map { SHA256.hash([UInt8($0)]).bytes }
        let signatures = zip(keys, digests).map { $0.sign(digest: $1) }
        seeds = keys.indices.map { [UInt8($0)] + digests[$0] + signatures[$0].r + signatures[$0].s }
        self.keys = keys
        neighbours = seeds.compactMap { Self.check($0, keys) }
        let watch = EngineWatch(crossCheck: 0, key: 0) { _ in }
        engines = BatchArithmetic.allCases
            .filter { $0 != .ifma || BatchArithmetic.featureMissingForIFMA == nil }
            .map { BatchEngine($0, watch: watch) }
    }

    func run(_ input: [UInt8]) {
        guard let check = Self.check(input, keys) else { return }
        let (expected, place) = (openSSL.isValid(check), Int(input[0]) / keys.count % Self.groupSize)
        var checks = (0..<Self.groupSize).map { neighbours[$0 % neighbours.count] }
        checks[place] = check
        for engine in engines {
            let answers = engine.verify(checks)
            precondition(answers[place] == expected, "an engine's answer is OpenSSL's")
            for index in checks.indices where index != place {
                precondition(answers[index], "a signature stays alone")
            }
            precondition(engine.verify([check]) == [expected], "one signature alone has the same answer")
        }
    }

    private static func check(_ input: [UInt8], _ keys: [LabKey]) -> SignatureCheck? {
        guard input.count == 1 + 3 * numberBytes else { return nil }
        let numbers = (0..<3).compactMap { index in
            Digest(Array(input[(1 + numberBytes * index)..<(1 + numberBytes * (index + 1))]))
        }
        guard numbers.count == 3, let key = P256PublicKey(x963: keys[Int(input[0]) % keys.count].x963) else {
            return nil
        }
        return .p256(key: key, digest: numbers[0], signature: P256Signature(r: numbers[1], s: numbers[2]))
    }
}
