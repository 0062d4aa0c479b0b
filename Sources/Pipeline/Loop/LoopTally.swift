internal import AppCheck

/// What the loop has committed so far.
package struct LoopTally: Sendable, Equatable {
    package var requests = 0
    package var accepted = 0
    package var duplicates = 0
    package var refused: [String: Int] = [:]
    package var deferred = 0
    package var deadLetters: [String: Int] = [:]
    package var batches = 0
    package var aborts = 0

    package init() {}

    package var refusedTotal: Int { refused.values.reduce(0, +) }
    package var deadLettersTotal: Int { deadLetters.values.reduce(0, +) }

    mutating func add(_ other: LoopTally) {
        requests += other.requests
        accepted += other.accepted
        duplicates += other.duplicates
        refused.merge(other.refused, uniquingKeysWith: +)
        deferred += other.deferred
        deadLetters.merge(other.deadLetters, uniquingKeysWith: +)
        batches += other.batches
        aborts += other.aborts
    }

    /// Adds a batch's verdicts.
    mutating func add(_ verdicts: [Verdict]) {
        requests += verdicts.count
        batches += 1
        for verdict in verdicts {
            switch verdict.outcome {
            case .accepted: accepted += 1
            case .refused(let reason, _): refused[reason.code, default: 0] += 1
            case .deadLetter(let reason): deadLetters[reason.rawValue, default: 0] += 1
            case .applied: requests -= 1
            }
            if verdict.isDuplicate { duplicates += 1 }
        }
    }
}
