internal import BrokerKit
internal import Foundation

/// The search for a worker whose transaction is open, and the kills that it led to.
struct TransactionHunt {
    /// A worker that is not inside one is let go, and another is looked at; after so long any worker is killed.
    static let patience = Duration.seconds(8)
    /// What the worker has sent arrives in this time: if it is the transaction's end, the kill did not hit one.
    static let settlingMicroseconds: UInt32 = 250_000

    let question: TransactionQuestion
    /// A worker's transactional id begins with it.
    let group: String
    /// When the present search began.
    var since: ContinuousClock.Instant?
    var tries = 0
    /// Kills that hit an open transaction, and others.
    private(set) var hits = 0
    private(set) var misses = 0

    init(_ question: TransactionQuestion, group: String) { (self.question, self.group) = (question, group) }

    func isInside(_ name: String) -> Bool { question.isOpen("\(group)-\(name)") }

    mutating func noteKill(isHit: Bool) {
        if isHit { hits += 1 } else { misses += 1 }
        (since, tries) = (nil, 0)
    }
}

extension ChaosCrew {
    /// How many kills hit an open transaction, and how many did not.
    var killsInTransaction: (hit: Int, missed: Int) { hunt.map { ($0.hits, $0.misses) } ?? (0, 0) }

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
        // A process may still send something right after SIGSTOP.
        let isStopped = members[index].process.map { ProcessProgress.waitForStop(of: $0.processID, seconds: 1) }
        let isInside = isStopped == true && hunt.isInside(name)
        guard isInside || ContinuousClock.now - since > TransactionHunt.patience else {
            members[index].process?.signal(SIGCONT)
            return nil
        }
        let back = back(planned)
        strike(index, back)
        usleep(TransactionHunt.settlingMicroseconds)
        let isHit = isInside && hunt.isInside(name)
        let tries = hunt.tries
        self.hunt?.noteKill(isHit: isHit)
        let place = isHit ? "inside" : "NOT inside"
        return "kill -9 of \(name) \(place) its transaction, at try \(tries), back in \(back.text)"
    }
}
