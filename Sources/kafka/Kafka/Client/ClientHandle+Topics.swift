internal import CRdkafka
internal import KafkaPorts

extension ClientHandle {
    /// Every topic that this client may see.
    ///
    /// Asks for all of them, since a broker may be configured to create a topic that is asked for by name.
    func topics(timeoutMilliseconds: Int) throws(KafkaFault) -> [TopicDescription] {
        var metadata: UnsafePointer<rd_kafka_metadata>?
        // On success the library hands over one block of memory, freed below.
        let code = unsafe rd_kafka_metadata(pointer, 1, nil, &metadata, clampedMilliseconds(timeoutMilliseconds))
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR, let metadata = unsafe metadata else {
            serve()
            throw explainedAside(KafkaFault(code, doing: "asking the broker for its topics"))
        }
        defer { unsafe rd_kafka_metadata_destroy(metadata) }
        let topics = unsafe UnsafeBufferPointer(start: metadata.pointee.topics, count: Int(metadata.pointee.topic_cnt))
        return unsafe topics.compactMap { unsafe Self.description(of: $0) }
    }

    /// The numbers of the brokers that are up.
    func brokerIDs(timeoutMilliseconds: Int) throws(KafkaFault) -> [Int32] {
        var metadata: UnsafePointer<rd_kafka_metadata>?
        // On success the library hands over one block of memory, freed below, as it does for all topics.
        let code = unsafe rd_kafka_metadata(pointer, 0, nil, &metadata, clampedMilliseconds(timeoutMilliseconds))
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR, let metadata = unsafe metadata else {
            serve()
            throw explained(KafkaFault(code, doing: "asking for the brokers"))
        }
        defer { unsafe rd_kafka_metadata_destroy(metadata) }
        let count = unsafe Int(metadata.pointee.broker_cnt)
        return unsafe UnsafeBufferPointer(start: metadata.pointee.brokers, count: count).map(\.id)
    }

    private static func description(of topic: rd_kafka_metadata_topic) -> TopicDescription? {
        guard unsafe topic.err == RD_KAFKA_RESP_ERR_NO_ERROR, let name = unsafe topic.topic else { return nil }
        // Array and count belong to one block that the caller keeps.
        let partitions = unsafe UnsafeBufferPointer(start: topic.partitions, count: Int(topic.partition_cnt))
        return TopicDescription(
            name: unsafe String(cString: name),
            partitions: partitions.count,
            replication: unsafe partitions.map { unsafe Int($0.replica_cnt) }.min() ?? 0
        )
    }
}
