package import BrokerKit
package import KafkaPorts

/// Where a script runs: the model under a seed, librdkafka on its mock cluster, librdkafka on a real cluster.
///
/// It has a topic of requests and one of ledgers, each with ``partitions``, and one group.
package protocol ContractWorld: AnyObject {
    /// Whether readers and groups see what transactions do: aborted records are hidden, open ones hold readers back.
    var hasTransactions: Bool { get }
    var partitions: Int32 { get }
    /// What a process of that name has: each consumer that it makes is the one that its queries ask.
    func process(_ name: String, isStatic: Bool) throws -> MemberPorts
    /// Of a process of that name; as a member of the group it has the same one.
    func transactionalID(_ name: String) throws -> String
    /// Of a process of that name; not initialised yet.
    func producer(_ name: String, _ settings: ProducerSettings) throws -> any TransactionProducer
    /// A member of the group as production has it, whose transactions may take so long.
    func member(_ name: String, _ delivery: MemberDelivery, outputMilliseconds: Int) throws -> MemberDriver
    /// Writes records, and waits until they are there.
    func publish(_ count: Int, to partition: Int32, of topic: ContractTopic) throws
    func cause(_ fault: WorldFault) throws
    /// Lets time pass in small steps until the condition holds.
    ///
    /// - Throws: a ``Standstill`` after 30 s (in the model simulated ones) in which `progress` did not change.
    func until(_ what: String, progress: () -> Int, _ condition: () throws -> Bool) throws
    var now: Moment { get }
    /// After so many milliseconds without a poll a member is out of its group.
    var pollLimit: Int64 { get }
    /// Whether the coordinator knows the group.
    func hasGroup() throws -> Bool
}

package struct ProducerSettings: Sendable {
    /// How many records it may hold; nil = many.
    package var queue: Int?
    /// Its transactions may be open for a moment only.
    package var isHasty = false

    package init(queue: Int? = nil, isHasty: Bool = false) { (self.queue, self.isHasty) = (queue, isHasty) }
}

package enum ContractTopic: Sendable { case requests, ledger }

package enum WorldFault: Sendable {
    /// Another broker leads the partition of both topics.
    case leaderMoves(Int32)
    /// Each answer comes later by so much; 0 = no more.
    case slow(milliseconds: Int)
    /// No broker can be reached, until they are back; no member sends a heartbeat meanwhile.
    case away, back
    /// So many requests of a kind end with their connection instead of an answer; 0 = none is answered in 20 s.
    case unanswered(api: APIKey, times: Int)
    /// So many requests of a kind are refused with a code.
    case refused(api: APIKey, code: KafkaErrorCode, times: Int)
    case topicMade(String, partitions: Int)
    /// The next request of a kind is repeated inside its call; its first copy comes in the middle of a later transaction of
    /// the same id: behind the first record, one with offsets behind that transaction's own.
    case late(api: APIKey)
    /// The topic of ledgers is compacted, as soon as another record lies behind what is.
    case compaction
    case ledgerRecreated
    /// A stock tool sets the offset of partition 0, while the group has no member.
    case offsetSet(Int64)
    /// Answers are as usual again.
    case calm
}

/// Nothing moved any more before a condition held.
package struct Standstill: Error, CustomStringConvertible {
    package let description: String

    package init(_ what: String) { description = "stands still: \(what)" }
}

extension ContractWorld {
    /// All partitions at their beginning.
    package var starts: [PartitionOffset] { starts(at: PartitionOffset.beginning) }

    package func starts(at offset: Int64) -> [PartitionOffset] {
        (0..<partitions).map { PartitionOffset(partition: $0, offset: offset) }
    }

    /// Repeats something for a while: for what must not happen meanwhile.
    package func during(milliseconds: Int64, _ body: () throws -> Void) throws {
        let end = now + milliseconds
        try until("time passes", progress: { Int(now.milliseconds / 100) }) {
            try body()
            return now >= end
        }
    }

    package func answer(
        _ queries: any BrokerQueries,
        _ query: BrokerQuery
    ) throws -> Result<BrokerAnswer, KafkaFault> {
        let id = queries.ask(query)
        var found: Result<BrokerAnswer, KafkaFault>?
        // Its own time-outs end it.
        try until("a query is answered", progress: { 0 }) {
            if let next = queries.nextAnswer(), next.id == id { found = next.answer }
            return found != nil
        }
        return try found.orThrow("no answer")
    }
}

extension Optional {
    package func orThrow(_ what: String) throws -> Wrapped {
        guard let self else { throw Standstill(what) }
        return self
    }
}
