internal import CRdkafka
internal import Streams

extension RecordStamp {
    /// Reads a message that carries no error.
    init(_ message: UnsafePointer<rd_kafka_message_t>) {
        var type = RD_KAFKA_TIMESTAMP_NOT_AVAILABLE
        // Plain reads of a message that the caller keeps alive.
        let timestamp = unsafe rd_kafka_message_timestamp(message, &type)
        self.init(
            RecordPlace(partition: unsafe message.pointee.partition, offset: unsafe message.pointee.offset),
            timestamp: timestamp,
            hasLogAppendTime: type == RD_KAFKA_TIMESTAMP_LOG_APPEND_TIME
        )
    }
}
