internal import CRdkafka

/// A partition's oldest offset and the one after its newest record that the asking client may see.
package struct Watermarks: Sendable, Equatable {
    package var low: Int64
    package var high: Int64

    package init(low: Int64, high: Int64) {
        self.low = low
        self.high = high
    }
}

extension ClientHandle {
    /// Asks the partition's leader. Any client but one with `isolation.level=read_uncommitted`, producers included, is
    /// told a high watermark that ends before open transactions.
    func watermarks(
        of topic: String,
        _ partition: Int32,
        timeoutMilliseconds: Int
    ) throws(KafkaFault) -> Watermarks {
        var low: Int64 = 0
        var high: Int64 = 0
        let timeout = clampedMilliseconds(timeoutMilliseconds)
        // Both are written before the call returns.
        let code = unsafe rd_kafka_query_watermark_offsets(pointer, topic, partition, &low, &high, timeout)
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR else {
            serve()
            throw explained(KafkaFault(code, doing: "asking for the ends of \(topic), partition \(partition)"))
        }
        return Watermarks(low: low, high: high)
    }
}
