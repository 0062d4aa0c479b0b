internal import Broker
internal import JSON
internal import Kafka
internal import KafkaPorts
internal import Pipeline
internal import Settings
internal import Streams

/// Reads back the worker's outputs: every result and every dead letter, from the beginning.
struct DemoReader {
    /// One output, matched with its request by place.
    struct Output {
        var place: RecordPlace
        /// `accepted`, a reason, or a dead letter's reason in brackets.
        var outcome: String
        /// Empty for a dead letter.
        var requestID = ""
        /// The record's value as text.
        var text: String
    }

    let properties: [(String, String)]
    let topics: TopicNames
    let partitions: Int32

    /// Reads the newest outputs of both topics.
    ///
    /// - Parameters:
    ///   - counts: how many outputs each topic holds; fewer come back only if none arrives for `milliseconds`.
    func read(_ counts: [OutputTopic: Int], milliseconds: Int = 5000) throws -> [Output] {
        try counts.flatMap { try read($0, count: $1, milliseconds: milliseconds) }
    }

    private func read(_ stream: OutputTopic, count: Int, milliseconds: Int) throws -> [Output] {
        var outputs: [Output] = []
        try read(topics.outputs[stream], milliseconds: milliseconds) { record in
            guard outputs.count < count else { return false }
            guard let record else { return true }
            let output = stream == .results ? Self.result(record) : Self.deadLetter(record)
            if let output { outputs.append(output) }
            return true
        }
        return outputs
    }

    /// Reads events until so many tell a risk metric, or none comes for a while.
    func events(untilRisk count: Int, milliseconds: Int = 5000) throws -> [[UInt8]] {
        var (events, risks): ([[UInt8]], Int) = ([], 0)
        let name = Array("AppAttestRisk".utf8)
        try read(topics.outputs[.events], milliseconds: milliseconds) { record in
            guard risks < count else { return false }
            guard let value = record?.value else { return true }
            events.append(value)
            if value.firstRange(of: name) != nil { risks += 1 }
            return true
        }
        return events
    }

    /// The first records of the requests topic, partition by partition in their order.
    func requests(_ count: Int, milliseconds: Int = 5000) throws -> [InboundRecord] {
        var records: [InboundRecord] = []
        try read(topics.requests, milliseconds: milliseconds) { record in
            guard records.count < count else { return false }
            if let record { records.append(InboundRecord(record, topic: topics.requests)) }
            return true
        }
        return records
    }

    /// - Parameter take: asked with nil before each record whether one is wanted.
    private func read(_ topic: String?, milliseconds: Int, _ take: (KafkaRecord?) -> Bool) throws {
        guard let topic else { return }
        let consumer = try Consumer(KafkaProperties(properties), topic: topic)
        try consumer.assign((0..<partitions).map { PartitionOffset(partition: $0, offset: PartitionOffset.beginning) })
        while take(nil), let event = try consumer.poll(timeoutMilliseconds: milliseconds) {
            guard case .message(let message) = event else { continue }
            _ = take(message.take())
        }
        try consumer.close()
    }

    private static func result(_ record: KafkaRecord) -> Output? {
        guard let value = record.value, let root = try? JSONDocument(parsing: value).root,
            let outcome = root["reason"]?.string ?? root["verdict"]?.string, let source = root["source"],
            let partition = source["partition"]?.integer.flatMap({ Int32(exactly: $0) }),
            let offset = source["offset"]?.integer
        else { return nil }
        let place = RecordPlace(partition: partition, offset: offset)
        let requestID = root["requestId"]?.string ?? ""
        let text = String(decoding: value, as: UTF8.self)
        return Output(place: place, outcome: outcome, requestID: requestID, text: text)
    }

    private static func deadLetter(_ record: KafkaRecord) -> Output? {
        func header(_ name: String) -> String? {
            record.headers.last { $0.name == Array(name.utf8) }?.value.map { String(decoding: $0, as: UTF8.self) }
        }
        guard let reason = header("dlq.reason"), let partition = header("dlq.partition").flatMap({ Int32($0) }),
            let offset = header("dlq.offset").flatMap({ Int64($0) })
        else { return nil }
        let text = "dlq.reason=\(reason), its value untouched: \((record.value?.count ?? 0).counted("byte"))"
        return Output(place: RecordPlace(partition: partition, offset: offset), outcome: "[\(reason)]", text: text)
    }
}
