package import Streams

extension MessageBlock: RecordMemory {
    package func takeRecord(_ index: Int) -> InboundRecord { InboundRecord(take(index), topic: topic) }
}

extension UncopiedRecord {
    package init(_ message: ConsumedMessage) {
        let stamp = RecordStamp(
            RecordPlace(partition: message.partition, offset: message.offset),
            timestamp: message.timestamp,
            hasLogAppendTime: message.timestampType == .logAppend
        )
        self.init(stamp, message.index, in: message.block)
    }
}

extension InboundRecord {
    package init(_ record: KafkaRecord, topic: String) {
        self.init(
            topic: topic,
            partition: record.partition,
            offset: record.offset,
            timestamp: record.timestamp,
            key: record.key,
            value: record.value,
            headers: record.headers.map { RecordHeader(name: $0.name, value: $0.value) }
        )
        hasReadableHeaders = record.headersReadable
        hasLogAppendTime = record.timestampType == .logAppend
    }
}
