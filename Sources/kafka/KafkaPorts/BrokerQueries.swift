/// Distinguishes queries; an answer to one that nobody waits for any more is dropped by it.
package struct QueryID: Hashable, Sendable {
    package let number: Int

    package init(_ number: Int) { self.number = number }
}

/// A member's question to the brokers.
package enum BrokerQuery: Sendable, Equatable {
    /// All topics with their partitions.
    case topics
    /// The same, and the numbers of partitions that the newest marks of the ledger name.
    case topicsAndMarks
    /// The group's committed offsets of these partitions; waits for pending transactions, so many milliseconds at most.
    /// One that stays open holds back the answer about all partitions of the question.
    case offsets([Int32], limit: Int)
    /// The beginnings and ends of the ledger's and the requests' partitions, open transactions included.
    ///
    /// - Parameter again: asked with the others; if that fails, only the first of these is asked alone.
    case ends([Int32], again: [Int32])
    /// The same of the ledger alone, for what nothing waits for: for a second at most.
    case ledgerEnds([Int32])
    case members
    /// Aborts the transaction that is open under a transactional id, and fences its producer.
    case abortTransaction(of: [UInt8])
}

package enum BrokerAnswer: Sendable, Equatable {
    case topics([TopicDescription])
    /// - Parameter marked: nil = some mark cannot be read at the moment.
    case topicsAndMarks([TopicDescription], marked: Set<Int32>?)
    /// - Parameter hasAny: whether the group has an offset of any partition of the requests.
    case offsets([CommittedOffset], hasAny: Bool)
    /// The leaders' answers, the ledger's first: everything read of it lies before the requests' ends. The fault is
    /// that of the leaders that have not answered.
    case ends(ledger: [Int32: Watermarks], requests: [Int32: Watermarks], KafkaFault?)
    /// Static members by their instance, the others by their client's name.
    case members(Set<[UInt8]>)
    case aborted
}

/// Asks the brokers, on the loop's queue; no call waits. One query at a time is under way, the next ones wait in order.
package protocol BrokerQueries: AnyObject {
    func ask(_ query: BrokerQuery) -> QueryID
    /// Drops the answer to a query; one that is under way goes on.
    func forget(_ query: QueryID)
    /// Takes the next answer; nil = none has come.
    func nextAnswer() -> (id: QueryID, answer: Result<BrokerAnswer, KafkaFault>)?
    /// Ends the queries: none is answered any more.
    func close()
}

/// A group's committed offset of a partition.
package struct CommittedOffset: Sendable, Equatable {
    package var partition: Int32
    /// The next offset to read; nil = nothing is committed.
    package var offset: Int64?
    package var metadata: [UInt8]

    package init(partition: Int32, offset: Int64?, metadata: [UInt8] = []) {
        (self.partition, self.offset, self.metadata) = (partition, offset, metadata)
    }
}

/// A topic as the broker's metadata has it.
package struct TopicDescription: Sendable, Equatable {
    package var name: String
    package var partitions: Int
    /// The smallest number of replicas among its partitions.
    package var replication: Int

    package init(name: String, partitions: Int, replication: Int) {
        (self.name, self.partitions, self.replication) = (name, partitions, replication)
    }
}

/// A partition's oldest offset and the one after the newest record that the asking client may see.
package struct Watermarks: Sendable, Equatable {
    package var low: Int64
    package var high: Int64

    package init(low: Int64, high: Int64) { (self.low, self.high) = (low, high) }
}

/// A partition and the next offset to read of it.
package struct PartitionOffset: Sendable, Equatable {
    /// Stands for "the oldest record there is".
    package static let beginning: Int64 = -2
    /// Stands for "the group's committed offset", which the library asks for by itself.
    package static let stored: Int64 = -1_000

    package var partition: Int32
    package var offset: Int64
    /// Text that a commit keeps with the offset, at most 4,096 bytes by the broker's default; empty = none.
    package var metadata: [UInt8]

    package init(partition: Int32, offset: Int64, metadata: [UInt8] = []) {
        (self.partition, self.offset, self.metadata) = (partition, offset, metadata)
    }
}
