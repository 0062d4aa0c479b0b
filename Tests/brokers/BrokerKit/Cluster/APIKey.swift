/// The kind of a Kafka request, by its number in the protocol.
package struct APIKey: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    package let rawValue: Int16

    package init(rawValue: Int16) { self.rawValue = rawValue }

    package static let produce = APIKey(rawValue: 0)
    package static let fetch = APIKey(rawValue: 1)
    package static let listOffsets = APIKey(rawValue: 2)
    package static let metadata = APIKey(rawValue: 3)
    package static let offsetFetch = APIKey(rawValue: 9)
    package static let heartbeat = APIKey(rawValue: 12)
    package static let initProducerID = APIKey(rawValue: 22)
    package static let addPartitionsToTransaction = APIKey(rawValue: 24)
    package static let addOffsetsToTransaction = APIKey(rawValue: 25)
    package static let endTransaction = APIKey(rawValue: 26)
    package static let transactionOffsetCommit = APIKey(rawValue: 28)
    package static let describeTransactions = APIKey(rawValue: 65)

    /// The requests that a client repeats inside a call of its transaction.
    package static let transactional: [APIKey] = [
        .addPartitionsToTransaction, .addOffsetsToTransaction, .endTransaction, .transactionOffsetCommit,
    ]

    /// The first version with compact strings and tagged fields; nil = its body is not read here.
    package var firstFlexibleVersion: Int16? { Self.known[rawValue]?.flexible }

    package var description: String { Self.known[rawValue]?.name ?? "API key \(rawValue)" }

    private static let known: [Int16: (name: String, flexible: Int16?)] = [
        0: ("Produce", 9), 1: ("Fetch", nil), 2: ("ListOffsets", nil), 3: ("Metadata", nil), 9: ("OffsetFetch", nil),
        10: ("FindCoordinator", nil), 11: ("JoinGroup", nil), 12: ("Heartbeat", nil), 22: ("InitProducerId", 2),
        24: ("AddPartitionsToTxn", 3), 25: ("AddOffsetsToTxn", 3), 26: ("EndTxn", 3), 28: ("TxnOffsetCommit", 3),
        65: ("DescribeTransactions", nil),
    ]
}
