package import AppAttest
internal import DeviceLab
internal import JSON
package import Risk

/// A span of time in which Apple answers otherwise.
package struct AppleFault: Sendable {
    package enum Kind: Sendable, CaseIterable { case throttled, outage, revoked, garbage, silence }
    package let kind: Kind
    package let from: EvaluationTime
    package let to: EvaluationTime
}

/// Apple's answers as far as a refresher sees them: metrics for 30 days after an attestation, none before Not Before.
package struct AppleModel: Sendable {
    package static let keptMilliseconds = 30 * Milliseconds.day

    private var random: SeededRandom
    private let faults: [AppleFault]
    /// One answer in so many is a fault outside of the spans.
    private let rarity: UInt64

    package init(seed: UInt64, faults: [AppleFault], rarity: UInt64 = 50) {
        (random, self.faults, self.rarity) = (SeededRandom(seed: seed), faults, rarity)
    }

    /// What comes back; nil = nothing within the time limit.
    ///
    /// - Parameter attestedAt: the key's last attestation.
    package mutating func answer(
        _ sent: SimulatedReceipt,
        attestedAt: EvaluationTime,
        at time: EvaluationTime
    ) -> ReceiptAnswer? {
        let kind = faults.first { $0.from <= time && time < $0.to }?.kind ?? rareFault()
        switch kind {
        case .throttled: return made(429, headers: [("Retry-After", Array("7".utf8))], at: time)
        case .outage: return made(503, at: time)
        case .revoked: return made(401, at: time)
        case .garbage: return made(200, body: Array("<html>".utf8), at: time)
        case .silence: return nil
        case nil: break
        }
        if let notBefore = sent.dates.notBefore, time < notBefore { return made(304, at: time) }
        guard time.since(attestedAt) < Self.keptMilliseconds else { return made(404, at: time) }
        return made(200, body: Base64.encode(Self.bytes(of: time)) + [0x0A], at: time)
    }

    /// The receipt in an answer: its creation stands for it.
    package static func receipt(_ bytes: [UInt8], after sent: SimulatedReceipt) -> SimulatedReceipt? {
        guard bytes.count == 8 else { return nil }
        let time = EvaluationTime(milliseconds: bytes.reduce(0) { $0 << 8 | Int64($1) })
        let dates = ReceiptDates(
            type: .receipt,
            createdAt: time,
            notBefore: time.after(milliseconds: Milliseconds.day),
            expiresAt: time.after(milliseconds: 90 * Milliseconds.day)
        )
        return SimulatedReceipt(key: sent.key, dates: dates, attestation: sent.attestation)
    }

    private mutating func rareFault() -> AppleFault.Kind? {
        guard random.next() % rarity == 0 else { return nil }
        // A single refused token or unreadable answer is part of it.
        return AppleFault.Kind.allCases[Int(random.next() % UInt64(AppleFault.Kind.allCases.count))]
    }

    private func made(
        _ status: Int,
        headers: [(name: String, value: [UInt8])] = [],
        body: [UInt8] = [],
        at time: EvaluationTime
    ) -> ReceiptAnswer { ReceiptAnswer(status: status, headers: headers, body: body, at: time) }

    private static func bytes(of time: EvaluationTime) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: time.milliseconds >> (56 - 8 * $0)) }
    }
}
