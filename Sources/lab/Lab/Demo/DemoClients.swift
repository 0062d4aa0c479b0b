internal import AppAttest
internal import Settings
internal import Traffic

/// The demo's clients: stock clients at the topics and at a gateway, and the device whose risk metric climbs.
struct DemoClients {
    let fleet: StockFleet
    let web: DemoGateway
    let risk: DemoRisk

    var isDone: Bool { fleet.isDone && web.fleet.isDone && risk.isDone }

    /// Records that they wrote to the requests topic.
    var records: Int { fleet.tally.calls + web.records + risk.records }

    /// Serves them on this thread for so long; the worker goes on meanwhile on its own.
    func serve(for turn: Duration) throws {
        let end = ContinuousClock.now + turn
        while ContinuousClock.now < end, !isDone {
            try risk.pass()
            // Once the worker answers, so that no call waits for the group's forming.
            let isAnswered = fleet.tally.sessions > 0
            if isAnswered, !web.fleet.isDone { try web.step(at: WallClock.now(), milliseconds: fleet.isDone ? 5 : 0) }
            if !fleet.isDone { try fleet.step(at: WallClock.now(), milliseconds: 5) }
        }
    }
}
