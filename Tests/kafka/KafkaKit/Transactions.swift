package import Kafka
package import KafkaPorts

/// A transaction's calls as tests make them, without a writer's rules.
extension TransactionClient {
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
