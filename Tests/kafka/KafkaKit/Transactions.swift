package import Kafka
package import KafkaPorts
package import Streams

/// A transaction's calls as tests make them, without a writer's rules.
extension TransactionClient {
    package func produce(
        topic: String,
        partition: Int32,
        key: [UInt8]?,
        value: [UInt8]?,
        headers: [RecordHeader] = [],
        budgetMilliseconds: Int = 60_000
    ) throws(KafkaFault) {
        try producer.produce(
            topic: topic,
            partition: partition,
            key: key,
            value: value,
            headers: headers,
            budgetMilliseconds: budgetMilliseconds
        )
    }

    package func flush(timeoutMilliseconds: Int) throws(KafkaFault) {
        try producer.flush(timeoutMilliseconds: timeoutMilliseconds)
    }

    package func sendOffsets(
        _ offsets: [PartitionOffset],
        topic: String,
        _ metadata: GroupMetadata,
        timeoutMilliseconds: Int
    ) throws(KafkaFault) {
        let sent = TransactionGuard.Offsets(topic: topic, offsets: offsets)
        try sendOffsets(sent, metadata, limit: timeoutMilliseconds)
    }
}
