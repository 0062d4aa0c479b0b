import AppAttest
import DeviceLab
import Testing
import Traffic

@Suite struct StockFleetTests {
    private let link = MemoryLink()

    private func fleet(_ devices: Int, _ wishes: [StockMember.Wish]) throws -> StockFleet {
        TrafficLab.fleet(try TrafficLab.apps(2), devices, wishes, link)
    }

    @Test func `each client gets its tokens, and each limited-use token is used up by its second check`() throws {
        let fleet = try fleet(5, [.session, .refresh, .limitedUse])
        try fleet.serve(steps: 100)
        #expect(fleet.isDone && !fleet.isWaiting)
        let tally = fleet.tally
        #expect([tally.sessions, tally.refreshed, tally.limitedUse, tally.consumed] == [5, 5, 5, 5])
        #expect(tally.minted == 15 && Set(tally.tokens).count == 15 && tally.checks == 10)
        #expect(tally.faults == [] && tally.refused == [:] && tally.lost == 0)
        // A handshake, two assertions with their challenges, two checks.
        #expect(tally.calls == 5 * 8 && link.calls.count == tally.calls && fleet.answers == tally.calls)
        #expect(Set(link.ids).count == tally.calls)
        try fleet.close()
        #expect(link.isClosed)
    }

    @Test func `nothing is sent while the link is not ready`() throws {
        let fleet = try fleet(3, [.session])
        link.isReady = false
        try fleet.serve(steps: 10)
        #expect(link.calls.isEmpty && !fleet.isDone)
        link.isReady = true
        try fleet.serve(steps: 10)
        #expect(fleet.isDone && fleet.tally.sessions == 3)
    }

    @Test func `no more calls are made than the limit says`() throws {
        let fleet = try fleet(3, [.session, .limitedUse])
        fleet.limit = 7
        try fleet.serve(steps: 100)
        #expect(fleet.isDone && link.calls.count == 7 && fleet.answers == 7)
    }

    @Test func `a call without an answer is given up after a minute, and the wish is asked for again`() throws {
        let fleet = try fleet(1, [.session])
        link.answers = false
        try fleet.serve(steps: 10)
        #expect(link.calls.count == 1 && fleet.isWaiting)
        link.answers = true
        let noon = TrafficLab.noon.milliseconds
        try fleet.serve(steps: 1, from: EvaluationTime(milliseconds: noon + 60_000))
        #expect(link.forgotten == [])
        try fleet.serve(steps: 10, from: EvaluationTime(milliseconds: noon + 60_001))
        #expect(link.forgotten == ["fleet-0"] && fleet.tally.lost == 1)
        #expect(fleet.isDone && fleet.tally.sessions == 1)
    }
}
