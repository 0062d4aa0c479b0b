package import KafkaPorts
internal import Streams

/// A member as others see it, at one moment: what this process knows without asking the brokers.
package struct MemberSnapshot: Sendable {
    /// The committed offsets, by partition; nothing of those that never had one.
    package var committed: [Int32: Int64] = [:]
    /// The offset of each partition before which nothing is left to answer: the committed one, or the one after the
    /// markers that follow it.
    package var positions: [Int32: Int64] = [:]
    /// Offsets of the ledger topic that a restore has left to read, by partition.
    package var restoring: [Int32: Int64] = [:]
    /// How many ledgers were restored so far, by their source.
    package var restores: [LedgerSource: Int] = [:]
    /// Offsets that are left to read of each ledger that is followed for others, as of the last answer about its end.
    package var standby: [Int32: Int64] = [:]
    /// Partitions that were started and of which nothing has come yet: the connection to their leader may be missing.
    package var unread: [Int32] = []
    /// Whether each of the group's partitions is read or held, if there are any.
    package var isSettled = false
    /// Errors that the consumer has reported so far, by librdkafka's names.
    package var errors: [String: Int] = [:]
    /// The consumer's last connection error; the connection may be back.
    package var connectionFault: KafkaFault?
    /// Connections of the consumer so far that were refused for what only a new client would change.
    package var refusals = 0
    /// librdkafka's statistics of the consumer, JSON; empty = none came yet.
    package var statistics: [UInt8] = []

    package init() {}
}

extension KafkaMember {
    package func snapshot() -> MemberSnapshot {
        let observations = consumer.observations
        var snapshot = MemberSnapshot()
        snapshot.committed = partitions.committed
        snapshot.positions = partitions.positions
        snapshot.restoring = remaining
        snapshot.restores = restores
        snapshot.standby = standbyLag
        snapshot.unread = partitions.unread
        snapshot.isSettled = settled != nil
        snapshot.errors = groupReader.pastErrors.merging(observations.errors, uniquingKeysWith: +)
        snapshot.connectionFault = observations.connectionFault
        snapshot.refusals = observations.refusals
        snapshot.statistics = observations.statistics
        return snapshot
    }

    /// The partitions that are ours and that the loop has taken; nil = the group has not assigned any yet, not even none.
    package var assigned: [Int32]? {
        guard !partitions.isEmpty else { return membership.state == .owning && changes.isEmpty ? [] : nil }
        return partitions.all.contains(where: \.reported.isTaken) ? partitions.numbers : nil
    }

    /// Partitions that are not read, each with a sentence that says why and what helps.
    package var holds: [Int32: String] { partitions.holds }

    func isHeld(_ number: Int32?) -> Bool { number.flatMap { partitions[$0]?.reported.hold } != nil }

    /// Whether the first offset of a partition is yet to be committed.
    package func isFirstOffsetDue(_ number: Int32) -> Bool { partitions[number]?.reported.isFirstOffsetDue ?? false }

    /// Whether the group has our answer to an assignment, and the loop still waits for the brokers' answers.
    var isAsking: Bool { membership.isArriving && membership.state != .answering }

    /// The partitions that are read or held; nil = some are not yet, or none are ours.
    package var settled: [Int32]? {
        guard membership.state == .owning, changes.isEmpty else { return nil }
        let isSettled = partitions.all.allSatisfy {
            switch $0.state {
            case .starting, .reading, .rewinding, .held: true
            default: false
            }
        }
        return isSettled ? partitions.numbers : nil
    }

    /// A stop was asked for: the output that is being written gives up soon.
    package func hurry(at now: Moment) { output.hurry(at: now) }

    /// Prepares to leave the group: the output that is being written gives up soon, and nothing of it counts that was
    /// not sent. From then on another member may own the partitions.
    package func giveUp(at now: Moment) {
        output.hurry(at: now)
        output.noteLost()
    }

    package func close(at now: Moment) {
        giveUp(at: now)
        forgetQueries()
        standby.close()
        ports.queries.close()
        // Everything is committed by now; a member that cannot leave in order times out in the group.
        do throws(KafkaFault) { try consumer.close(limit: Self.closeMilliseconds) } catch { settings.trouble(error) }
    }

    static let closeMilliseconds = 10_000
}
