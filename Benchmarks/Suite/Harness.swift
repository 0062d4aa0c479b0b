/// Something to measure: `run` does its work once and says how many records that were.
struct Candidate {
    let name: String
    /// Threads that it keeps busy.
    let lanes: Int
    /// Who verifies, by the name that `engine.use` has for it; nil where the name says it.
    let engine: String?
    /// Signatures that are verified together; nil where the candidate has no batches.
    let batch: Int?
    /// The candidate that it is compared with; nil = the first of its group.
    let baseline: String?
    let run: () -> Int

    init(
        _ name: String,
        lanes: Int = 1,
        engine: String? = nil,
        batch: Int? = nil,
        baseline: String? = nil,
        run: @escaping () -> Int
    ) {
        (self.name, self.lanes, self.engine, self.batch) = (name, lanes, engine, batch)
        (self.baseline, self.run) = (baseline, run)
    }
}

/// A median, and the quartiles around it.
struct Spread {
    let median: Double
    let low: Double
    let high: Double

    init(_ values: [Double]) {
        let sorted = values.sorted()
        median = Harness.median(sorted)
        low = sorted[(sorted.count - 1) / 4]
        high = sorted[sorted.count - 1 - (sorted.count - 1) / 4]
    }
}

/// What came out for one candidate: medians over the rounds.
struct Measurement {
    let name: String
    let lanes: Int
    let engine: String?
    let batch: Int?
    /// Name of what it is compared with.
    let baseline: String
    /// Records per second of processor time.
    let perCore: Double
    /// Records per second of wall time.
    let perSecond: Double
    /// The rounds' own ratios to the baseline: rates per core, or on the wall where the group counts those.
    let ratio: Spread

    /// Of one core, for a record.
    var microseconds: Double { 1_000_000 / perCore }
}

/// Measures candidates in turns, so that whatever slows the machine down slows all of them.
struct Harness {
    enum Clock { case processor, wall }

    let rounds: Int

    private struct Rates {
        var perCore: [Double] = []
        var perSecond: [Double] = []
    }

    /// - Parameter clock: what the ratios are taken of: the processor's time, or the wall's where lanes work at once.
    func measure(_ candidates: [Candidate], by clock: Clock = .processor) -> [Measurement] {
        for candidate in candidates { _ = candidate.run() }
        var rates = Array(repeating: Rates(), count: candidates.count)
        for _ in 0..<rounds {
            for (index, candidate) in candidates.enumerated() {
                var records = 0
                let elapsed = Elapsed.of { records = candidate.run() }
                rates[index].perCore.append(Double(records) / elapsed.processor)
                rates[index].perSecond.append(Double(records) / elapsed.wall)
            }
        }
        return candidates.indices.map { index in
            let name = candidates[index].baseline
            let baseline = candidates.firstIndex { $0.name == name } ?? 0
            precondition(name == nil || candidates[baseline].name == name, "a baseline is one of its group")
            return summary(candidates[index], rates[index], candidates[baseline].name, rates[baseline], clock)
        }
    }

    private func summary(
        _ candidate: Candidate,
        _ rates: Rates,
        _ baseline: String,
        _ others: Rates,
        _ clock: Clock
    ) -> Measurement {
        let own = clock == .processor ? rates.perCore : rates.perSecond
        let other = clock == .processor ? others.perCore : others.perSecond
        return Measurement(
            name: candidate.name,
            lanes: candidate.lanes,
            engine: candidate.engine,
            batch: candidate.batch,
            baseline: baseline,
            perCore: Self.median(rates.perCore),
            perSecond: Self.median(rates.perSecond),
            ratio: Spread(zip(own, other).map { $0 / $1 })
        )
    }

    static func median(_ values: [Double]) -> Double {
        let sorted = values.sorted()
        let middle = sorted.count / 2
        return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
    }
}
