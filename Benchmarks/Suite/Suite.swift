internal import Foundation

/// All benchmarks in their order.
struct Suite {
    private let isTiny: Bool
    private let fixtures: Fixtures
    private let harness: Harness
    private let objects: ObjectCandidates

    /// - Parameter isTiny: each candidate works once, on little: to see that it works.
    init(isTiny: Bool) throws {
        self.isTiny = isTiny
        fixtures = try Fixtures(count: 256)
        harness = Harness(rounds: isTiny ? 1 : 11)
        objects = ObjectCandidates(fixtures, scale: isTiny ? 4 : 64)
    }

    /// All but signatures, by stage.
    static func stages(rounds: Int, devices: Int = 512) throws -> StageReport {
        StageReport(try Fixtures(count: devices), perDevice: rounds > 1 ? 10 : 4, rounds: rounds)
    }

    /// - Parameter tell: is given each table as soon as it is known.
    func run(date: String?, _ tell: (String) -> Void) throws -> BenchmarkReport {
        let machine = Machine()
        tell(machine.text)
        var groups: [BenchmarkReport.Group] = []
        func add(_ id: BenchmarkReport.GroupID, _ rows: [Measurement]) {
            let group = BenchmarkReport.Group(id: id, rows: rows)
            groups.append(group)
            tell(group.table)
        }
        let engines = EngineCandidates(fixtures, scale: isTiny ? 4 : 32)
        add(.p256, harness.measure(engines.p256()))
        add(.p384, harness.measure(engines.p384()))
        try measureReplays(add)
        add(.objects, harness.measure(try objects.all()))
        let exchange = try ExchangeCandidates(fixtures, scale: isTiny ? 1 : 16)
        add(.exchange, harness.measure(try exchange.all()))
        let es256 = try ExchangeCandidates.es256(fixtures, scale: isTiny ? 1 : 16)
        add(.exchangeES256, harness.measure(try es256.all()))
        let held = try HeldKeyCandidates(exchange, fixtures, rounds: isTiny ? 2 : 100)
        add(.heldKey, harness.measure(try held.all(), by: .wall))
        let tokens = try tokens()
        tell(BenchmarkReport.table(of: tokens))
        let stages = try Self.stages(rounds: isTiny ? 2 : harness.rounds, devices: isTiny ? 256 : 512)
        tell(stages.table(Benchmarks.rounded))
        return BenchmarkReport(machine: machine, date: date, groups: groups, tokens: tokens, stages: stages)
    }

    /// The whole program, beside the signatures that its records have.
    private func measureReplays(_ add: (BenchmarkReport.GroupID, [Measurement]) -> Void) throws {
        let assertions = try ReplayCandidate(records: isTiny ? 2000 : 50_000, devices: isTiny ? 20 : 500)
        // The start of a replay, 23 ms of tests of the engines, must not count among its attestations.
        let attestations = try ReplayCandidate(records: isTiny ? 50 : 8_000, devices: isTiny ? 50 : 8_000)
        let cores = ProcessInfo.processInfo.activeProcessorCount
        add(.assertions, harness.measure([objects.bare()] + assertions.engines()))
        add(.attestations, harness.measure([objects.p384AndP256()] + attestations.engines()))
        let leaves = attestations.engines(receipts: false)
        add(.attestationsWithoutReceipts, harness.measure([objects.p384()] + leaves))
        add(.lanes, harness.measure(lanes(assertions, cores), by: .wall))
        add(.allCores, harness.measure([objects.bare(threads: cores), assertions.allLanes], by: .wall))
    }

    /// One lane on one core, then lanes up to the number of cores; bare threads beside them show what the machine gives.
    private func lanes(_ replay: ReplayCandidate, _ cores: Int) -> [Candidate] {
        // Up to four each is shown, then doublings.
        let counts = (1...cores).filter { $0 <= 4 || $0 == cores || $0.nonzeroBitCount == 1 }
        let one = replay.onOneCore
        let bare = ObjectCandidates.bareName(threads: 1)
        return [one] + counts.map { replay.lanes($0, baseline: one.name) }
            + counts.map { objects.bare(threads: $0, baseline: bare) }
    }

    /// Several short runs, so that there is a spread.
    private func tokens() throws -> [TokenCost] {
        let runs = try (0..<harness.rounds).map { _ in try SigningPairs(turns: isTiny ? 3 : 40).all() }
        return runs[0].indices.map { index in
            let own = runs.map { $0[index] }
            return TokenCost(
                name: own[0].name,
                bare: Harness.median(own.map(\.bare)),
                minted: Harness.median(own.map(\.minted)),
                ratio: Spread(own.map(\.ratio))
            )
        }
    }
}
