package import AppAttest
internal import DeviceLab
package import Risk

/// What happens in a run, made of a seed.
package struct RunPlan: Sendable {
    package static let start = EvaluationTime(milliseconds: 1_700_000_000_000)

    package var seed: UInt64
    package var keys = 120
    package var partitions = 3
    package var isCompacted = true
    package var callsPerSecond = 1.0
    package var crashes = 4
    /// Reloads after which each team speaks for the other's prefix.
    package var reloads = 0
    /// Spans of faults in the first 40 days.
    package var faults = 6
    /// One answer in so many is a fault outside of the spans.
    package var rarity: UInt64 = 50
    package var lines = LineSettings()

    package init(seed: UInt64) { self.seed = seed }

    /// Attestations in their order: half of them in one hour, as after a release, the others over 20 days.
    func attestations() -> [(at: EvaluationTime, key: Int)] {
        var random = SeededRandom(seed: seed ^ 0xA1)
        let all = (0..<keys).flatMap { key -> [(at: EvaluationTime, key: Int)] in
            let span = key.isMultiple(of: 2) ? Milliseconds.hour : 20 * Milliseconds.day
            let first = Self.start.after(milliseconds: Int64.random(in: 0..<span, using: &random))
            guard random.next() % 5 == 0 else { return [(first, key)] }
            let again = Int64.random(in: Milliseconds.minute..<(20 * Milliseconds.day), using: &random)
            return [(first, key), (first.after(milliseconds: again), key)]
        }
        return all.sorted { ($0.at, $0.key) < ($1.at, $1.key) }
    }

    func faultSpans() -> [AppleFault] {
        var random = SeededRandom(seed: seed ^ 0xB2)
        return (0..<faults).map { index in
            let from = Self.start.after(milliseconds: Int64.random(in: 0..<(40 * Milliseconds.day), using: &random))
            let span = Int64.random(in: Milliseconds.minute..<(9 * Milliseconds.hour), using: &random)
            let kinds = AppleFault.Kind.allCases
            return AppleFault(kind: kinds[index % kinds.count], from: from, to: from.after(milliseconds: span))
        }
    }

    func crashTimes() -> [EvaluationTime] { times(crashes, within: 50 * Milliseconds.day, salt: 0xC3) }

    /// Half of them while the first attestations are called for, the others over the days of the later lines.
    func reloadTimes() -> [EvaluationTime] {
        let first = times(reloads / 2, within: Milliseconds.hour, salt: 0xE5)
        return first + times(reloads - reloads / 2, within: 50 * Milliseconds.day, salt: 0xF6)
    }

    private func times(_ count: Int, within span: Int64, salt: UInt64) -> [EvaluationTime] {
        var random = SeededRandom(seed: seed ^ salt)
        return (0..<count)
            .map { _ in Self.start.after(milliseconds: Int64.random(in: 0..<span, using: &random)) }
            .sorted()
    }
}
