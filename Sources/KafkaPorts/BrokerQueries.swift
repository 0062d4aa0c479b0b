/// Distinguishes queries; an answer to one that nobody waits for any more is dropped by it.
package struct QueryID: Hashable, Sendable {
    package let number: Int

    package init(_ number: Int) { self.number = number }
}

/// A member's question to the brokers.
package enum BrokerQuery: Sendable, Equatable {
    /// All topics with their partitions.
    case topics
    /// The group's committed offsets of these partitions; waits for pending transactions.
    case offsets([Int32])
    /// The beginnings and ends of the ledger's and the requests' partitions, open transactions included.
    ///
    /// - Parameter again: asked with the others; if that fails, only the first of these is asked alone.
    case ends([Int32], again: [Int32])
}

package enum BrokerAnswer: Sendable, Equatable {
    case topics([TopicDescription])
    /// - Parameter hasAny: whether the group has an offset of any partition of the requests.
    case offsets([CommittedOffset], hasAny: Bool)
    /// The leaders' answers, the ledger's first: everything read of it lies before the requests' ends. The fault is
    /// that of the leaders that have not answered.
    case ends(ledger: [Int32: Watermarks], requests: [Int32: Watermarks], KafkaFault?)
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
