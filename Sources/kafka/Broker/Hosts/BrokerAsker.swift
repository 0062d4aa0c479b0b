internal import Kafka
internal import KafkaPorts
internal import Pipeline
internal import Streams
internal import Threads

/// Answers a member's queries with librdkafka's clients, one query at a time, on one queue.
final class BrokerAsker: @unchecked Sendable {
    private let topics: (ledger: String, requests: String)
    private let properties: KafkaProperties
    private let group: String
    private var owner = Owner("BrokerAsker")
    /// The present consumer's; set on the loop's queue.
    private let inquiry = Locked<GroupInquiry?>(nil)
    /// Kept until it has answered: a client for each try would pile up behind a silent broker.
    private var ends: PartitionEnds?
    /// The group has had an offset of the requests. It keeps those that have members.
    private var groupHasOffsets = false

    /// - Parameter properties: of clients without a group.
    init(_ topics: (ledger: String, requests: String), _ properties: KafkaProperties, group: String) {
        (self.topics, self.properties, self.group) = (topics, properties, group)
    }

    /// Asks this consumer from now on.
    func use(_ inquiry: GroupInquiry?) { self.inquiry.withLock { $0 = inquiry } }

    func answer(_ query: BrokerQuery) throws(KafkaFault) -> BrokerAnswer {
        owner.check()
        return switch query {
        case .topics: .topics(try consumer().topics(timeoutMilliseconds: Self.limit))
        case .topicsAndMarks: try topicsAndMarks(consumer())
        case .offsets(let partitions, let limit): try offsets(partitions, limit, consumer())
        case .ends(let partitions, let again): try ends(partitions, again)
        case .ledgerEnds(let partitions): try ledgerEnds(partitions)
        case .members: .members(try Admin(properties).group(group, timeoutMilliseconds: Self.limit).ids)
        case .abortTransaction(let id): try abortTransaction(of: id)
        }
    }

    /// How long a question may wait for the brokers.
    private static let limit = 5_000

    private func consumer() throws(KafkaFault) -> GroupInquiry {
        guard let inquiry = inquiry.withLock({ $0 }) else { throw KafkaFault(.state, "there is no consumer to ask") }
        return inquiry
    }

    /// A ledger partition without a leader must not keep the others from starting: what its mark says then counts where
    /// it is taken over.
    private func topicsAndMarks(_ consumer: GroupInquiry) throws(KafkaFault) -> BrokerAnswer {
        let found = try consumer.topics(timeoutMilliseconds: Self.limit)
        guard let ledger = found.first(where: { $0.name == topics.ledger }) else {
            return .topicsAndMarks(found, marked: nil)
        }
        do throws(KafkaFault) {
            let marks = try LedgerMarks.newest(
                properties,
                topic: ledger.name,
                partitions: Int32(clamping: ledger.partitions)
            )
            return .topicsAndMarks(found, marked: Set(marks.values.compactMap(\.position.partitions)))
        } catch {
            // What lasts ends the worker where it restores its partitions, with a sentence that names the ledger.
            return .topicsAndMarks(found, marked: nil)
        }
    }

    private func offsets(
        _ partitions: [Int32],
        _ limit: Int,
        _ consumer: GroupInquiry
    ) throws(KafkaFault) -> BrokerAnswer {
        let own = try consumer.committed(partitions, timeoutMilliseconds: limit)
        groupHasOffsets = groupHasOffsets || own.contains { $0.offset != nil }
        // Else an open transaction of any partition would hold back the answer about one that has no offset.
        if groupHasOffsets { return .offsets(own, hasAny: true) }
        let found = try consumer.topics(timeoutMilliseconds: Self.limit).first { $0.name == topics.requests }
        let numbers = Array(0..<Int32(clamping: found?.partitions ?? 0))
        let all = try consumer.committed(numbers, timeoutMilliseconds: limit)
        groupHasOffsets = all.contains { $0.offset != nil }
        return .offsets(own, hasAny: groupHasOffsets)
    }

    /// Taking an id over ends what is open under it. A fencing means that another heir was as fast.
    private func abortTransaction(of id: [UInt8]) throws(KafkaFault) -> BrokerAnswer {
        // The library takes a C string.
        guard let id = String(validating: id, as: UTF8.self), !id.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F })
        else {
            throw .invalid("a mark names a transactional id that is not a text")
        }
        do throws(KafkaFault) {
            let producer = try TransactionClient(properties, transactionalID: id)
            try producer.initTransactions(limit: Self.limit)
        } catch { if !error.isFenced { throw error } }
        return .aborted
    }

    /// Asks all at once; if that fails, asks for each alone, since one absent leader would hold up all. Of those that are
    /// asked again only the first alone, since questions of other assignments wait for this one.
    private func ends(_ partitions: [Int32], _ again: [Int32]) throws(KafkaFault) -> BrokerAnswer {
        let asker = if let ends, !ends.isOutdated { ends } else { try PartitionEnds(properties) }
        var (ledger, requests): ([Int32: Watermarks], [Int32: Watermarks]) = ([:], [:])
        func ask(_ partitions: [Int32], _ timeout: Int) throws(KafkaFault) {
            // The ledger first, so that everything read of it lies before the requests' ends.
            let first = try asker.watermarks(of: topics.ledger, partitions, timeoutMilliseconds: timeout)
            let second = try asker.watermarks(of: topics.requests, partitions, timeoutMilliseconds: timeout)
            ledger.merge(first) { $1 }
            requests.merge(second) { $1 }
        }
        var fault: KafkaFault?
        do throws(KafkaFault) { try ask(partitions + again, Self.limit) } catch {
            fault = error
            if error.isRetriable || error.isMissingTopic, partitions.count + again.count > 1 {
                for partition in partitions + again.prefix(1) { try? ask([partition], Self.aloneMilliseconds) }
            }
        }
        // A client that was refused may have been made with an old password.
        ends = fault?.isRetriable == true ? asker : nil
        return .ends(ledger: ledger, requests: requests, fault)
    }

    /// Each question of our own that comes meanwhile waits for this one.
    private func ledgerEnds(_ partitions: [Int32]) throws(KafkaFault) -> BrokerAnswer {
        let asker = if let ends, !ends.isOutdated { ends } else { try PartitionEnds(properties) }
        ends = nil
        let found = try asker.watermarks(
            of: topics.ledger,
            partitions,
            timeoutMilliseconds: Self.aloneMilliseconds
        )
        ends = asker
        return .ends(ledger: found, requests: [:], nil)
    }

    private static let aloneMilliseconds = 1_000
}
