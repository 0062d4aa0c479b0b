/// Something to measure: `run` does its work once and says how many records that were.
struct Candidate {
    let name: String
    /// Threads that it keeps busy.
    let lanes: Int
    let run: () -> Int

    init(_ name: String, lanes: Int = 1, run: @escaping () -> Int) {
        self.name = name
        self.lanes = lanes
        self.run = run
    }
}

/// What came out for one candidate: medians over the rounds.
struct Measurement {
    let name: String
    let lanes: Int
    /// Records per second of processor time.
    let perCore: Double
    /// Records per second of wall time.
    let perSecond: Double
    /// Median of the rounds' own ratios to the baseline with as many lanes: rates per core where that is one lane,
    /// rates on the wall where it is more.
    let ratio: Double
}

/// Measures candidates in turns, so that whatever slows the machine down slows all of them.
struct Harness {
    let rounds: Int

    private struct Rates {
        var perCore: [Double] = []
        var perSecond: [Double] = []
    }

    /// - Parameter candidates: for each number of lanes, the first one is the baseline.
    func measure(_ candidates: [Candidate]) -> [Measurement] {
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
            let baseline = candidates.firstIndex { $0.lanes == candidates[index].lanes } ?? index
            return summary(candidates[index], rates[index], baseline: rates[baseline])
        }
    }

    private func summary(_ candidate: Candidate, _ rates: Rates, baseline: Rates) -> Measurement {
        let own = candidate.lanes == 1 ? rates.perCore : rates.perSecond
        let other = candidate.lanes == 1 ? baseline.perCore : baseline.perSecond
        return Measurement(
            name: candidate.name,
            lanes: candidate.lanes,
            perCore: Self.median(rates.perCore),
            perSecond: Self.median(rates.perSecond),
            ratio: Self.median(zip(own, other).map { $0 / $1 })
        )
    }

    static func median(_ values: [Double]) -> Double {
        let sorted = values.sorted()
        let middle = sorted.count / 2
        return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
    }
}
