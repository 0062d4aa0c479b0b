/// The kind of a Kafka request, by its number in the protocol.
package struct APIKey: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    package let rawValue: Int16

    package init(rawValue: Int16) { self.rawValue = rawValue }

    private init(_ number: Int16) { rawValue = number }

    package static let produce = APIKey(0)
    package static let fetch = APIKey(1)
    package static let listOffsets = APIKey(2)
    package static let metadata = APIKey(3)
    package static let offsetFetch = APIKey(9)
    package static let heartbeat = APIKey(12)
    package static let initProducerID = APIKey(22)
    package static let addPartitionsToTransaction = APIKey(24)
    package static let addOffsetsToTransaction = APIKey(25)
    package static let endTransaction = APIKey(26)
    package static let transactionOffsetCommit = APIKey(28)
    package static let describeTransactions = APIKey(65)

    /// The requests that a client repeats inside a call of its transaction.
    package static let transactional: [APIKey] = [
        .addPartitionsToTransaction, .addOffsetsToTransaction, .endTransaction, .transactionOffsetCommit,
    ]

    /// The first version with compact strings and tagged fields; nil = its body is not read here.
    package var firstFlexibleVersion: Int16? {
        switch self {
        case .produce: 9
        case .initProducerID: 2
        case .addPartitionsToTransaction, .addOffsetsToTransaction, .endTransaction, .transactionOffsetCommit: 3
        default: nil
        }
    }

    package var description: String { Self.names[rawValue] ?? "API key \(rawValue)" }

    private static let names: [Int16: String] = [
        0: "Produce", 1: "Fetch", 2: "ListOffsets", 3: "Metadata", 9: "OffsetFetch", 10: "FindCoordinator",
        11: "JoinGroup", 12: "Heartbeat", 22: "InitProducerId", 24: "AddPartitionsToTxn", 25: "AddOffsetsToTxn",
        26: "EndTxn", 28: "TxnOffsetCommit", 65: "DescribeTransactions",
    ]
}
