package import AppAttest

/// Stock clients at a link. Each waits for the answers of a running worker, which decide on its next call; artifacts,
/// challenges and tokens come only from these answers.
package final class StockFleet {
    /// URLSession's default: after this an app treats the connection as broken, in milliseconds.
    private static let timeoutMilliseconds: Int64 = 60_000

    private struct Open {
        let member: Int
        let call: StockMember.Call
        let since: EvaluationTime
    }

    private let link: any StockLink
    private let prefix: String
    private var open: [String: Open] = [:]
    private var outbox: [(member: Int, call: StockMember.Call)] = []
    package private(set) var members: [StockMember]
    package private(set) var tally = StockTally()
    package private(set) var answers = 0
    /// Records that may be sent; no wish is begun beyond it.
    package var limit = Int.max

    /// - Parameter prefix: of the request-ids, unique to this fleet.
    package init(_ members: [StockMember], link: any StockLink, prefix: String) {
        (self.members, self.link, self.prefix) = (members, link, prefix)
    }

    /// Whether no call is open and no wish is left.
    package var isDone: Bool {
        guard open.isEmpty else { return false }
        return tally.calls >= limit || (outbox.isEmpty && members.allSatisfy { $0.wishes.isEmpty && $0.current == nil })
    }

    /// Whether a call has no answer yet.
    package var isWaiting: Bool { !open.isEmpty }

    /// The time at which the first client asks again; nil while one of them has a call open or due.
    package var silentUntil: EvaluationTime? {
        guard open.isEmpty, outbox.isEmpty else { return nil }
        let ends = members.filter { !$0.wishes.isEmpty }.map(\.notBefore)
        return ends.min { $0.milliseconds < $1.milliseconds }
    }

    /// Starts the apps again that wait for no answer: their SDKs forget how long they were to be silent.
    package func restart() {
        for index in members.indices { members[index].restart() }
    }

    package func close() throws { try link.close() }

    /// Sends the calls that are due and hands out the answers that have come.
    ///
    /// - Parameters:
    ///   - now: the wall clock.
    ///   - milliseconds: how long to wait for answers.
    package func step(at now: EvaluationTime, milliseconds: Int) throws {
        for index in members.indices {
            if let call = members[index].begin(at: now, &tally) { outbox.append((index, call)) }
        }
        try send(at: now)
        for answer in try link.poll(milliseconds: milliseconds) {
            guard let waiting = open.removeValue(forKey: answer.id) else { continue }
            if !answer.isLost { answers += 1 }
            let next = members[waiting.member].answer(answer, to: waiting.call, at: now, &tally)
            if let next { outbox.append((waiting.member, next)) }
        }
        for (id, waiting) in open where now.milliseconds - waiting.since.milliseconds > Self.timeoutMilliseconds {
            open[id] = nil
            link.forget(id)
            let next = members[waiting.member].disconnect(waiting.call, at: now, &tally)
            if let next { outbox.append((waiting.member, next)) }
        }
    }

    private func send(at now: EvaluationTime) throws {
        while !outbox.isEmpty, tally.calls < limit, link.isReady {
            let (member, call) = outbox.removeFirst()
            let id = "\(prefix)-\(tally.calls)"
            tally.calls += 1
            open[id] = Open(member: member, call: call, since: now)
            try link.send(call, id: id)
        }
    }
}
