internal import AppAttest
internal import DeviceLab
internal import Risk
internal import RiskKit
internal import Testing

@Suite("Answers 401, under seeds")
struct RefusedReceiptTests {
    private static func run(_ plan: RefusedReceiptRun.Plan) throws -> RefusedReceiptRun {
        var run = try RefusedReceiptRun(plan)
        run.run()
        return run
    }

    /// Whether Apple sees no two tokens of a key within 20 minutes, but for the second one of all.
    private static func areRare(_ tokens: [(text: [UInt8], at: EvaluationTime)]) -> Bool {
        // A token's time is cut to seconds, which is what Apple sees.
        let times = tokens.map { $0.at.milliseconds / 1_000 }
        let gaps = zip(times.dropFirst(), times).map { $0 - $1 }
        return gaps.dropFirst().allSatisfy { $0 >= 20 * 60 }
    }

    private static let seeds = Array(UInt64(1)...8)

    @Test(arguments: seeds, [0, 1, 7, 50, 199])
    func `a receipt of another team costs a token in 20 minutes at most, opens no breaker, and is given up`(
        seed: UInt64,
        foreign: Int
    ) throws {
        let run = try Self.run(RefusedReceiptRun.Plan(seed: seed, foreign: [foreign]))
        #expect(run.isDone && run.breakers == [] && run.refused == [foreign])
        #expect((3...8).contains(run.calls[foreign]), "it is sent \(run.calls[foreign]) times")
        #expect(run.calls.indices.allSatisfy { $0 == foreign || run.calls[$0] == 1 })
        #expect(Self.areRare(run.tokens[0]))
        // Four hours have eight tokens of 30 minutes; what is refused adds a few.
        #expect((8...12).contains(run.tokens[0].count), "\(run.tokens[0].count) tokens")
    }

    @Test(arguments: seeds)
    func `without such a receipt nothing is given up, and a token is made every 30 minutes`(seed: UInt64) throws {
        let run = try Self.run(RefusedReceiptRun.Plan(seed: seed))
        #expect(run.isDone && run.breakers == [] && run.refused == [])
        #expect(run.calls.allSatisfy { $0 == 1 })
        let times = run.tokens[0].map(\.at)
        #expect((7...9).contains(times.count))
        #expect(zip(times.dropFirst(), times).allSatisfy { $0.since($1) >= 30 * Milliseconds.minute - 1_000 })
    }

    @Test(arguments: seeds, [[], [3]] as [Set<Int>])
    func `a revoked key opens the breaker after a few receipts, and no visit is lost`(
        seed: UInt64,
        foreign: Set<Int>
    ) throws {
        var plan = RefusedReceiptRun.Plan(seed: seed, foreign: foreign)
        plan.revocation = 80 * Milliseconds.minute..<(140 * Milliseconds.minute)
        let run = try Self.run(plan)
        #expect(run.isDone && run.breakers == [.opened(.unauthorized), .closed])
        #expect(Set(run.refused) == foreign, "a good receipt is given up")
        // Three that open it, a token that is replaced, four probes, and what was in flight.
        #expect((4...14).contains(run.refusals), "\(run.refusals) answers 401")
        #expect(run.tokens.allSatisfy(Self.areRare))
    }

    @Test func `a key that was never accepted opens the breaker with its second token`() throws {
        var plan = RefusedReceiptRun.Plan(seed: 3)
        plan.revocation = 0..<(30 * Milliseconds.minute)
        let run = try Self.run(plan)
        #expect(run.isDone && run.breakers == [.opened(.unauthorized), .closed] && run.refused == [])
        #expect(run.tokens[0].count == 2 && run.refusals < 12)
    }

    @Test(arguments: seeds)
    func `several receipts of another team among the good ones are given up, each by itself`(seed: UInt64) throws {
        let foreign: Set = [10, 40, 70, 100, 130]
        let run = try Self.run(RefusedReceiptRun.Plan(seed: seed, foreign: foreign))
        #expect(run.isDone && Set(run.refused) == foreign && run.refused.count == foreign.count)
        #expect(Self.areRare(run.tokens[0]))
    }
}
