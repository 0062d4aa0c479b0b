internal import Synchronization

/// The state that the engines of all lanes share: the sample of their answers that OpenSSL judges too, and whether they
/// may go on.
package final class EngineWatch: Sendable {
    /// Called once, on a lane, with a sentence, when an engine was wrong.
    package typealias Alarm = @Sendable (String) -> Void

    private let threshold: UInt64
    private let key: UInt64
    private let alarm: Alarm
    private let stopped = Atomic<Bool>(false)
    private let compared = Atomic<Int>(0)
    private let undecided = Atomic<Int>(0)
    private let wrongP256 = Atomic<Int>(0)
    private let wrongP384 = Atomic<Int>(0)

    /// - Parameters:
    ///   - crossCheck: one answer in so many is compared with OpenSSL's; 0 = none, 1 = all.
    ///   - key: secret and random, so that no sender knows which of his signatures are compared.
    package init(crossCheck: Int, key: UInt64, alarm: @escaping Alarm) {
        threshold = crossCheck < 1 ? 0 : UInt64.max / UInt64(crossCheck)
        (self.key, self.alarm) = (key, alarm)
    }

    /// Whether an engine was wrong: from then on OpenSSL judges everything.
    package var isStopped: Bool { stopped.load(ordering: .acquiring) }
    /// Answers compared with OpenSSL's so far.
    package var comparedCount: Int { compared.load(ordering: .relaxed) }
    /// Signatures that the batch code left to OpenSSL.
    package var undecidedCount: Int { undecided.load(ordering: .relaxed) }

    /// Answers of engines that were not OpenSSL's.
    package var disagreements: (p256: Int, p384: Int) {
        (wrongP256.load(ordering: .relaxed), wrongP384.load(ordering: .relaxed))
    }

    /// Whether this answer is to be compared.
    ///
    /// - Parameter number: of the check on its lane, so that a check which comes again is not always left out.
    func samples(_ check: SignatureCheck, number: UInt64) -> Bool {
        guard threshold > 0 else { return false }
        // SipHash, seeded at random for each process, under our own key.
        var hasher = Hasher()
        hasher.combine(key)
        hasher.combine(number)
        switch check {
        case .p256(_, let digest, _), .p384(_, let digest, _): hasher.combine(digest)
        }
        return UInt64(truncatingIfNeeded: hasher.finalize()) <= threshold
    }

    func noteCompared() { compared.add(1, ordering: .relaxed) }
    func noteUndecided() { undecided.add(1, ordering: .relaxed) }

    /// An engine's answer is not OpenSSL's.
    func stop(_ check: SignatureCheck, answered answer: Bool) {
        let curve: String
        let digest: Digest
        switch check {
        case .p256(_, let value, _):
            wrongP256.add(1, ordering: .relaxed)
            (curve, digest) = ("P-256", value)
        case .p384(_, let value, _):
            wrongP384.add(1, ordering: .relaxed)
            (curve, digest) = ("P-384", value)
        }
        guard !stopped.exchange(true, ordering: .acquiringAndReleasing) else { return }
        let hex = digest.bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        alarm(
            "the signature engine \(answer ? "accepted" : "refused") a \(curve) signature over the digest \(hex) that "
                + "OpenSSL \(answer ? "refuses" : "accepts"); OpenSSL verifies its batch again, and all from now on"
        )
    }
}
