internal import Kafka
internal import KafkaPorts
internal import Pipeline
internal import Threads

/// Answers a member's queries with librdkafka's clients, one query at a time, on one queue.
final class BrokerAsker: @unchecked Sendable {
    private let topics: (ledger: String, requests: String)
    private let properties: KafkaProperties
    private var owner = Owner("BrokerAsker")
    /// The present consumer's; set on the loop's queue.
    private let inquiry = Locked<GroupInquiry?>(nil)
    /// Kept until it has answered: a client for each try would pile up behind a silent broker.
    private var ends: PartitionEnds?

    /// - Parameter properties: of clients without a group.
    init(_ topics: (ledger: String, requests: String), _ properties: KafkaProperties) {
        (self.topics, self.properties) = (topics, properties)
    }

    /// Asks this consumer from now on.
    func use(_ inquiry: GroupInquiry?) { self.inquiry.withLock { $0 = inquiry } }

    func answer(_ query: BrokerQuery) throws(KafkaFault) -> BrokerAnswer {
        owner.check()
        return switch query {
        case .topics: .topics(try consumer().topics(timeoutMilliseconds: Self.limit))
        case .offsets(let partitions): try offsets(partitions, consumer())
        case .ends(let partitions, let again): try ends(partitions, again)
        }
    }

    /// How long a question may wait for the brokers.
    static let limit = 5_000

    private func consumer() throws(KafkaFault) -> GroupInquiry {
        guard let inquiry = inquiry.withLock({ $0 }) else { throw KafkaFault(.state, "there is no consumer to ask") }
        return inquiry
    }

    private func offsets(_ partitions: [Int32], _ consumer: GroupInquiry) throws(KafkaFault) -> BrokerAnswer {
        let own = try consumer.committed(partitions, timeoutMilliseconds: Self.limit)
        if own.allSatisfy({ $0.offset != nil }) { return .offsets(own, hasAny: true) }
        let found = try consumer.topics(timeoutMilliseconds: Self.limit).first { $0.name == topics.requests }
        let numbers = Array(0..<Int32(clamping: found?.partitions ?? 0))
        let all = try consumer.committed(numbers, timeoutMilliseconds: Self.limit)
        return .offsets(own, hasAny: all.contains { $0.offset != nil })
    }

    private func ends(_ partitions: [Int32], _ again: [Int32]) throws(KafkaFault) -> BrokerAnswer {
        let asker = if let ends, !ends.isOutdated { ends } else { try PartitionEnds(properties) }
        let answers = EndAnswers(asker, topics, partitions, again)
        // A client that was refused may have been made with an old password.
        ends = answers.fault?.isRetriable == true ? asker : nil
        return .ends(ledger: answers.ends, requests: answers.requests, answers.fault)
    }
}
