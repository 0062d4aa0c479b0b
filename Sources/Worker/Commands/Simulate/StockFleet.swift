internal import AppAttest
internal import AppCheck
internal import Broker
internal import DeviceLab

/// Stock clients on a broker. Each waits for the answers of a running worker, which decide on its next call; artifacts,
/// challenges and tokens come only from these answers.
final class StockFleet {
    /// URLSession's default: after this an app treats the connection as broken, in milliseconds.
    private static let patience: Int64 = 60_000

    private struct Open {
        let member: Int
        let call: StockMember.Call
        let since: EvaluationTime
    }

    private let link: StockLink
    private let prefix: String
    private var pacer: Pacer
    private var open: [String: Open] = [:]
    private var outbox: [(member: Int, call: StockMember.Call)] = []
    private(set) var members: [StockMember]
    private(set) var tally = StockTally()
    /// Answers that have come.
    private(set) var answers = 0
    /// Records that may be sent; no wish is begun beyond it.
    var limit = Int.max

    /// - Parameters:
    ///   - prefix: of the request-ids, unique to this fleet.
    ///   - rate: records per second; nil = as the answers come.
    init(_ members: [StockMember], link: StockLink, prefix: String, rate: Double? = nil) {
        (self.members, self.link, self.prefix) = (members, link, prefix)
        pacer = Pacer(recordsPerSecond: rate)
    }

    /// Whether no call is open and no wish is left.
    var isDone: Bool {
        guard open.isEmpty else { return false }
        return tally.calls >= limit || (outbox.isEmpty && members.allSatisfy { $0.wishes.isEmpty && $0.current == nil })
    }

    /// Whether a call has no answer yet.
    var isWaiting: Bool { !open.isEmpty }

    /// Closes the connections to the broker.
    func close() throws { try link.close() }

    /// Sends the calls that are due and takes the answers that have come.
    ///
    /// - Parameters:
    ///   - now: the wall clock.
    ///   - milliseconds: how long to wait for answers.
    func step(at now: EvaluationTime, milliseconds: Int) throws {
        for index in members.indices {
            if let call = members[index].begin(at: now, &tally) { outbox.append((index, call)) }
        }
        try send(at: now)
        for answer in try link.poll(milliseconds: milliseconds) {
            guard let waiting = open.removeValue(forKey: answer.id) else { continue }
            answers += 1
            let next = members[waiting.member].answer(answer, to: waiting.call, at: now, &tally)
            if let next { outbox.append((waiting.member, next)) }
        }
        for (id, waiting) in open where now.milliseconds - waiting.since.milliseconds > Self.patience {
            open[id] = nil
            link.forget(id)
            let next = members[waiting.member].disconnect(waiting.call, at: now, &tally)
            if let next { outbox.append((waiting.member, next)) }
        }
    }

    private func send(at now: EvaluationTime) throws {
        while !outbox.isEmpty, tally.calls < limit, pacer.millisecondsToWait() == nil {
            pacer.count()
            let (member, call) = outbox.removeFirst()
            let id = "\(prefix)-\(tally.calls)"
            tally.calls += 1
            open[id] = Open(member: member, call: call, since: now)
            try link.send(id: id, key: call.key, value: call.value, headers: call.headers, hasToken: call.hasToken)
        }
    }
}

extension StockFleet {
    /// Members of all apps in turn; each app's OAuth clients stand beside the app itself.
    ///
    /// - Parameters:
    ///   - wishes: of each member; OAuth clients get limited-use wishes only.
    static func members(
        _ apps: [SimulatedApp],
        ca: LabCA,
        devices: Int,
        seed: UInt64,
        wishes: [StockMember.Wish]
    ) -> [StockMember] {
        var settings = SimulationSettings(devices: devices, records: devices)
        settings.seed = seed
        let plans = SimulatedTraffic.plans(Array(apps.prefix(devices)), ca, settings)
        return (0..<devices).map { number in
            let (turn, which) = number.quotientAndRemainder(dividingBy: plans.count)
            let app = plans[which].app.registered
            let device = plans[which].fleet.device(turn)
            let choice = turn % (app.oauthClientIDs.count + 1)
            let resource =
                choice == 0
                ? StockClient.resource(projectID: app.projectID ?? app.projectNumber, appID: app.appID)
                : StockClient.resource(oauthClientID: app.oauthClientIDs[choice - 1])
            return StockMember(
                client: StockClient(device.model, resource: resource, seed: device.seed),
                app: app,
                wishes: choice == 0 ? wishes : wishes.map { _ in .limitedUse }
            )
        }
    }
}
