internal import AppCheck
package import Streams

/// The counts of what the loop has committed so far.
package struct LoopTally: Sendable, Equatable {
    package var requests = 0
    package var accepted = 0
    package var duplicates = 0
    package var refused: [String: Int] = [:]
    package var deferred = 0
    /// Refusals and deferrals, by app, verb and reason.
    package var refusals = RefusalCounts()
    /// Session tokens that were used up and are remembered, and those refused because too many are remembered.
    package var sessionTokensUsed = 0
    package var sessionTokensOverLimit = 0
    package var deadLetters: [String: Int] = [:]
    /// ``LedgerOverlay/ended``.
    package var endedKeys: [String: Int] = [:]
    /// Lines of a capture that are not records and were left out, as asked.
    package var skippedLines = 0
    /// Records that were read before and were left out.
    package var repeatedRecords = 0
    package var batches = 0
    package var aborts = 0
    package var abortCauses: [AbortCause: Int] = [:]
    package var rebalances: [Rebalance: Int] = [:]
    /// The answers by app and verb.
    package var answers = AnswerTally()
    /// Milliseconds; none in replay.
    package var answerAge = Histogram.answerAge
    package var commitDuration = Histogram.commitDuration
    package var batchRecords = Histogram.batchRecords
    /// An upper bound of the requests that were lost unread to retention or a moved offset.
    package var skippedAtMost: Int64 = 0
    /// An upper bound of the requests among these that retention deleted.
    package var deletedAtMost: Int64 = 0

    package init() {}

    package var refusedTotal: Int { refused.values.reduce(0, +) }
    package var deadLettersTotal: Int { deadLetters.values.reduce(0, +) }

    package mutating func add(_ other: LoopTally) {
        requests += other.requests
        accepted += other.accepted
        duplicates += other.duplicates
        refused.merge(other.refused, uniquingKeysWith: +)
        deferred += other.deferred
        refusals.add(other.refusals)
        sessionTokensUsed += other.sessionTokensUsed
        sessionTokensOverLimit += other.sessionTokensOverLimit
        endedKeys.merge(other.endedKeys, uniquingKeysWith: +)
        deadLetters.merge(other.deadLetters, uniquingKeysWith: +)
        skippedLines += other.skippedLines
        repeatedRecords += other.repeatedRecords
        batches += other.batches
        aborts += other.aborts
        abortCauses.merge(other.abortCauses, uniquingKeysWith: +)
        rebalances.merge(other.rebalances, uniquingKeysWith: +)
        answers.add(other.answers)
        answerAge.add(other.answerAge)
        commitDuration.add(other.commitDuration)
        batchRecords.add(other.batchRecords)
        skippedAtMost += other.skippedAtMost
        deletedAtMost += other.deletedAtMost
    }

    /// Adds a batch's verdicts.
    mutating func add(_ verdicts: [Verdict]) {
        requests += verdicts.count
        batches += 1
        // Elements of a span are read in place.
        let verdicts = verdicts.span
        for index in verdicts.indices {
            switch verdicts[index].outcome {
            case .accepted: accepted += 1
            case .refused(let reason, _): refused[reason.code, default: 0] += 1
            case .deferred: deferred += 1
            case .deadLetter(let reason): deadLetters[reason.rawValue, default: 0] += 1
            case .applied: requests -= 1
            }
            if verdicts[index].isDuplicate { duplicates += 1 }
            switch verdicts[index].sessionToken {
            case .remembered: sessionTokensUsed += 1
            case .overLimit: sessionTokensOverLimit += 1
            case nil: break
            }
        }
    }
}

/// Why a loop dropped what it had in flight.
package enum AbortCause: String, Sendable, CaseIterable {
    case broker
    /// Another process acts under this one's name.
    case fenced
    case rebalance
    /// One of the records is refused.
    case record
}

extension SourceFault {
    package var abortCause: AbortCause { isRecordFault ? .record : isFenced ? .fenced : .broker }
}
