package import AppAttest
package import Streams
internal import TestKit

/// A source of requests that a test writes, poll by poll.
package final class PolledSource: RequestSource {
    /// Fills the round of a poll, by the number of polls before it.
    package typealias Fill = (_ round: inout PollRound, _ number: Int, _ limits: BatchLimits) throws -> Void

    package let member: (any GroupMember)?
    package private(set) var polls = 0
    private let fill: Fill

    package init(_ member: (any GroupMember)? = nil, _ fill: @escaping Fill) {
        (self.member, self.fill) = (member, fill)
    }

    package func poll(_ limits: BatchLimits, waitMilliseconds: Int) throws -> PollRound {
        defer { polls += 1 }
        var round = PollRound()
        try fill(&round, polls, limits)
        return round
    }
}

/// A clock that a test moves. Confined to the test's thread.
package final class MovedClock: @unchecked Sendable {
    package var milliseconds: Int64
    package var now: EvaluationTime { EvaluationTime(milliseconds: milliseconds) }

    package init(_ milliseconds: Int64 = RequestRecords.time) { self.milliseconds = milliseconds }
}

/// A list of records as streams without a group: hands out again what was not committed.
package final class ListStreams: RequestSource, RecordTransaction {
    private let records: [InboundRecord]
    /// Takes a transaction's outputs, or throws what the transaction fails with.
    package var take: (_ outputs: [OutboundRecord]) throws -> Void
    private var (read, committed) = (0, 0)
    private var isOpen = false
    /// The number of outputs of each committed transaction.
    package private(set) var transactions: [Int] = []
    package private(set) var aborts = 0
    package var timeShare = 0.0
    package let member: (any GroupMember)? = nil
    package let isAtomic = true

    package init(_ records: [InboundRecord], take: @escaping (_ outputs: [OutboundRecord]) throws -> Void) {
        (self.records, self.take) = (records, take)
    }

    package func poll(_ limits: BatchLimits, waitMilliseconds: Int) -> PollRound {
        var round = PollRound()
        round.records = records[read...].prefix(limits.records).map { .record($0) }
        read += round.records.count
        round.ended = committed == records.count
        return round
    }

    package func write(
        _ records: [[OutboundRecord]],
        _ positions: [PartitionPosition],
        of generation: Generation
    ) throws {
        precondition(!isOpen, "one transaction at a time")
        isOpen = true
        let outputs = Array(records.joined())
        try take(outputs)
        isOpen = false
        transactions.append(outputs.count)
        committed = positions.first.map { Int($0.offset) } ?? committed
    }

    package func abort() -> Bool {
        (isOpen, read) = (false, committed)
        aborts += 1
        return true
    }
}
