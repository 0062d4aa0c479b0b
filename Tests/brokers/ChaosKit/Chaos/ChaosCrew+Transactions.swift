internal import BrokerKit
internal import Foundation

/// The search for a worker whose transaction is open, and the kills that it led to.
struct TransactionHunt {
    /// A worker that is not inside one is let go, and another is looked at; after so long any worker is killed.
    static let patience = Duration.seconds(8)
    /// What the worker has sent arrives in this time: if it is the transaction's end, the kill did not hit one.
    static let settling = Duration.milliseconds(250)

    let question: TransactionQuestion
    /// A worker's transactional id begins with it.
    let group: String
    /// When the present search began.
    var since: ContinuousClock.Instant?
    var tries = 0
    /// Kills, and those of them that hit an open transaction.
    private(set) var kills = 0
    private(set) var hits = 0

    init(_ question: TransactionQuestion, group: String) { (self.question, self.group) = (question, group) }

    func isInside(_ name: String) -> Bool { question.isOpen("\(group)-\(name)") }

    mutating func noteKill(isHit: Bool) {
        kills += 1
        if isHit { hits += 1 }
        (since, tries) = (nil, 0)
    }
}

extension ChaosCrew {
    /// How many kills hit an open transaction, and how many did not.
    var killsInTransaction: (hit: Int, missed: Int) { hunt.map { ($0.hits, $0.kills - $0.hits) } ?? (0, 0) }

    /// Stops a worker, asks the brokers about it, and kills it inside its transaction, or lets it go on.
    ///
    /// - Returns: a description; nil = not inside one, so that the caller comes again.
    func killInTransaction(_ planned: PlannedFault) -> String? {
        let candidates = running
        guard !candidates.isEmpty, var hunt else { return nil }
        let since = hunt.since ?? .now
        hunt.since = since
        hunt.tries += 1
        self.hunt = hunt
        let index = candidates[Int((planned.target &+ UInt64(hunt.tries)) % UInt64(candidates.count))]
        let name = members[index].name
        members[index].process?.signal(SIGSTOP)
        let isInside = waitUntilStopped(index) && hunt.isInside(name)
        guard isInside || ContinuousClock.now - since > TransactionHunt.patience else {
            members[index].process?.signal(SIGCONT)
            return nil
        }
        let back = back(planned)
        strike(index, back)
        let end = ContinuousClock.now + TransactionHunt.settling
        while ContinuousClock.now < end { usleep(10_000) }
        let isHit = isInside && hunt.isInside(name)
        let tries = hunt.tries
        self.hunt?.noteKill(isHit: isHit)
        let place = isHit ? "inside" : "NOT inside"
        return "kill -9 of \(name) \(place) its transaction, at try \(tries), back in \(back.text)"
    }

    /// A process that was just told to stop may still send something.
    private func waitUntilStopped(_ index: Int) -> Bool {
        guard let id = members[index].process?.processID else { return false }
        for _ in 0..<500 {
            let status = (try? String(contentsOfFile: "/proc/\(id)/status", encoding: .utf8)) ?? ""
            if status.contains("T (stopped)") { return true }
            usleep(1_000)
        }
        return false
    }
}
