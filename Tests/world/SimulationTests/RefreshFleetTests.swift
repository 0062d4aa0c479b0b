import AppAttest
import Risk
import RiskKit
import SimulationKit
import Testing

/// Refreshers on one simulated Kafka, by the variables of ``FleetTests``.
@Suite("Refreshers under a seed")
struct RefreshFleetTests {
    @Test func `no position passes a receipt that was not exchanged, and every line comes to its end`() throws {
        let counts = FaultCounts()
        if FleetTests.oneSeed != nil { counts.trace = [] }
        var (answers, told): ([Int: Int], [String: Int]) = ([:], [:])
        let (first, count) = (FleetTests.first, FleetTests.seeds(40, per: 200))
        let all = FleetTests.oneSeed.map { $0..<($0 + 1) } ?? first..<(first + count)
        for seed in all {
            let fleet = try RefreshFleet(.rough(seed: seed), counts: counts)
            let complaints = try fleet.run()
            #expect(complaints.isEmpty, "seed \(seed): \(complaints.prefix(3))")
            answers.merge(fleet.books.answers, uniquingKeysWith: +)
            told.merge(fleet.told, uniquingKeysWith: +)
        }
        print((counts.trace ?? []).joined(separator: "\n"))
        guard all.count >= 40 else { return }
        for status in [0, 200, 401, 404, 429, 503] { #expect(answers[status] ?? 0 > 0, "no \(status)") }
        for name in ["risk.breaker-open", "risk.breaker-closed", "risk.rate-lowered"] {
            #expect(told[name] ?? 0 > 0, "no refresher has logged \(name)")
        }
        for kind in [
            FaultKind.crash, .crashInCall, .pausePastSession, .revoked, .lost, .fencedInstance, .pollGap, .renewed,
            .damagedOnce, .damagedOnDisk, .offsetCommitUnanswered, .seekTimedOut, .pauseIgnored,
        ] { #expect(counts.counts[kind] ?? 0 > 0, "\(kind.rawValue) was not met") }
    }

    @Test func `where nothing happens each line calls for each of its receipts once, and not above the rate`() throws {
        let fleet = try RefreshFleet(.calm(seed: 3))
        #expect(try fleet.run() == [])
        for line in ReceiptLine.allCases {
            let calls = fleet.books.calls.filter { $0.line == line }
            #expect(calls.count == fleet.books.dueCount(of: line) && calls.count > 1)
        }
        #expect(RateCheck.holds(fleet.books.calls.map(\.at), callsPerSecond: 20))
    }

    @Test func `the same seed makes the same calls`() throws {
        func calls() throws -> [Int64] {
            let fleet = try RefreshFleet(.rough(seed: 7))
            _ = try fleet.run()
            return fleet.books.calls.map(\.at.milliseconds)
        }
        let first = try calls()
        #expect(try calls() == first && !first.isEmpty)
    }
}
