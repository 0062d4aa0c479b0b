internal import Crypto
internal import DeviceLab

/// Signatures through every engine that this machine can run, against OpenSSL: random ones, ones at the edges of their
/// ranges, and damaged ones, in groups of every size and at every place of a group. P-384 besides, one for ten: all by
/// every engine, one group in five by OpenSSL.
struct SignatureLab {
    let count: Int
    let seed: UInt64
    let lanes: Int

    static let chunk = 4096

    /// - Returns: the program's exit code.
    func run() -> Int32 {
        let chunks = (count + Self.chunk - 1) / Self.chunk
        let total = SignatureTally.sum(lanes: lanes, chunks: chunks) { SignatureLane(seed: seed).run }
        return report(total)
    }

    private func report(_ tally: SignatureTally) -> Int32 {
        let engines = SignatureLane.arithmetics.map(\.rawValue).joined(separator: " and ")
        print("\(tally[.p256]) P-256 and \(tally[.p384]) P-384 signatures, seed \(seed), \(lanes) lanes: \(engines)")
        print("\(tally[.p384WithOpenSSL]) of the P-384 signatures also by OpenSSL")
        print("\(tally[.valid]) valid; \(tally[.undecided]) left to OpenSSL")
        for mistake in tally.mistakes { print("MISTAKE: \(mistake)") }
        if let feature = BatchArithmetic.featureMissingForIFMA { print("ifma was not tried: no \(feature)") }
        // Both answers must have been asked for, or nothing was tried.
        let isEven = tally[.valid] > tally[.p256] / 8 && tally[.p256] - tally[.valid] > tally[.p256] / 8
        if !isEven { print("MISTAKE: too few valid or too few invalid signatures") }
        return tally.mistakes.isEmpty && isEven ? 0 : 1
    }
}
