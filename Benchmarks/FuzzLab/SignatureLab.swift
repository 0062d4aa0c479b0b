internal import Crypto
internal import DeviceLab
internal import Foundation
internal import Synchronization

/// Signatures through every engine that this machine can run, against OpenSSL: random ones, ones at the edges of their
/// ranges, and damaged ones, in groups of every size and at every place of a group. P-384 besides, one for ten: all by
/// every engine, one group in five by OpenSSL.
struct SignatureLab {
    private let count: Int
    private let seed: UInt64
    private let lanes: Int

    static let chunk = 4096

    init(count: Int, seed: UInt64, lanes: Int) {
        self.count = count
        self.seed = seed
        self.lanes = lanes
    }

    /// - Returns: the program's exit code.
    func run() -> Int32 {
        let chunks = (count + Self.chunk - 1) / Self.chunk
        let next = Atomic<Int>(0)
        let sum = NSLock()
        // Guarded by `sum`.
        nonisolated(unsafe) var total = SignatureTally()
        DispatchQueue.concurrentPerform(iterations: lanes) { _ in
            let lane = SignatureLane(seed: seed)
            while true {
                let chunk = next.add(1, ordering: .relaxed).oldValue
                guard chunk < chunks else { return }
                let tally = lane.run(chunk: chunk)
                sum.withLock { unsafe total.add(tally) }
            }
        }
        return unsafe report(total)
    }

    private func report(_ tally: SignatureTally) -> Int32 {
        let engines = SignatureLane.arithmetics.map(\.rawValue).joined(separator: " and ")
        print("\(tally.p256) P-256 and \(tally.p384) P-384 signatures, seed \(seed), \(lanes) lanes: \(engines)")
        print("\(tally.p384WithOpenSSL) of the P-384 signatures also by OpenSSL")
        print("\(tally.valid) valid; \(tally.undecided) left to OpenSSL")
        for mistake in tally.mistakes { print("MISTAKE: \(mistake)") }
        if let feature = BatchArithmetic.featureMissingForIFMA { print("ifma was not tried: no \(feature)") }
        // Both answers must have been asked for, or nothing was tried.
        let isEven = tally.valid > tally.p256 / 8 && tally.p256 - tally.valid > tally.p256 / 8
        if !isEven { print("MISTAKE: too few valid or too few invalid signatures") }
        return tally.mistakes.isEmpty && isEven ? 0 : 1
    }
}

/// What a run has seen.
struct SignatureTally: Sendable {
    var p256 = 0
    var p384 = 0
    var p384WithOpenSSL = 0
    var valid = 0
    var undecided = 0
    private(set) var mistakes: [String] = []

    mutating func mistake(_ sentence: String) {
        if mistakes.count < 10 { mistakes.append(sentence) }
    }

    mutating func add(_ other: SignatureTally) {
        p256 += other.p256
        p384 += other.p384
        p384WithOpenSSL += other.p384WithOpenSSL
        valid += other.valid
        undecided += other.undecided
        mistakes += other.mistakes.prefix(max(0, 10 - mistakes.count))
    }
}
