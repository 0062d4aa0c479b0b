internal import CRdkafka
internal import KafkaPorts

extension ClientHandle {
    /// The committed offsets of the client's group, with their metadata. On any thread.
    ///
    /// With `isolation.level=read_committed` it waits for transactions that have offsets of these partitions pending.
    func committed(
        _ topic: String,
        _ partitions: [Int32],
        timeoutMilliseconds: Int
    ) throws(KafkaFault) -> [CommittedOffset] {
        guard !partitions.isEmpty else { return [] }
        let list = TopicPartitionList(topic: topic, partitions: partitions)
        let timeout = clampedMilliseconds(timeoutMilliseconds)
        // The library fills the list in and does not keep it.
        let code = unsafe list.withPointer { unsafe rd_kafka_committed(pointer, $0, timeout) }
        let action = "reading the committed offsets of \(topic)"
        if code != RD_KAFKA_RESP_ERR_NO_ERROR {
            serve()
            throw explainedAside(KafkaFault(code, doing: action))
        }
        if let fault = list.firstFault(action) { throw fault }
        return list.committed()
    }
}
