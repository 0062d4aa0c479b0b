internal import Foundation
internal import Kafka
internal import Pipeline
internal import Settings
internal import Streams

/// Writes keys onto a ledger topic, in transactions.
struct TopicFill {
    private static let perTransaction = 20_000
    private let topic: String
    private let producer: TransactionClient

    /// - Parameter directory: a config directory whose topics exist.
    init(directory: String) throws {
        let configuration = try Configuration.load(directory: directory)
        topic = configuration.topics.outputs[.ledger] ?? ""
        let properties = configuration.kafkaProperties.map { ($0.name, $0.value) } + [("compression.type", "zstd")]
        producer = try TransactionClient(KafkaProperties(properties), transactionalID: "restore-bench-fill")
        try producer.initTransactions(limit: 30_000)
    }

    func write(_ keys: Int) throws {
        let partitions = Int(try producer.producer.partitionCount(of: topic))
        for start in stride(from: 0, to: keys, by: Self.perTransaction) {
            try producer.begin()
            for number in start..<min(start + Self.perTransaction, keys) {
                let (key, value) = LedgerCodec.encode(SampleKeys.change(number))
                try producer.producer.produce(
                    topic: topic,
                    partition: Int32(number % partitions),
                    key: key,
                    value: value
                )
            }
            try producer.producer.flush(timeoutMilliseconds: 60_000)
            try producer.commit(limit: 60_000)
        }
        print("\(keys) keys on \(partitions) partitions of \(topic)")
    }
}
