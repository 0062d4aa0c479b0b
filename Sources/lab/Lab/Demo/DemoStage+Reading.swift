internal import JSON
internal import Kafka
internal import KafkaPorts
internal import Settings
internal import Streams

/// One output of the worker, matched with its request by place.
struct DemoOutput {
    let place: RecordPlace
    /// `accepted`, a reason, or a dead letter's reason in brackets.
    let outcome: String
    /// Empty for a dead letter.
    var requestID = ""
    let text: String
}

/// Reads topics back from their beginning. Fewer records come only where none arrives for a while.
extension DemoStage {
    private static let readMilliseconds = 5000

    /// So many outputs of each topic.
    func outputs(_ counts: [OutputTopic: Int]) throws -> [DemoOutput] {
        try counts.flatMap { stream, count in
            var outputs: [DemoOutput] = []
            try read(configuration.topics.outputs[stream], until: count) { record in
                guard let output = stream == .results ? Self.result(record) : Self.deadLetter(record) else {
                    return false
                }
                outputs.append(output)
                return true
            }
            return outputs
        }
    }

    /// Events until so many tell a risk metric.
    func events(untilRisk count: Int) throws -> [[UInt8]] {
        var events: [[UInt8]] = []
        let name = Array("AppAttestRisk".utf8)
        try read(configuration.topics.outputs[.events], until: count) { record in
            guard let value = record.value else { return false }
            events.append(value)
            return value.firstRange(of: name) != nil
        }
        return events
    }

    /// Requests, partition by partition in their order.
    func requests(_ count: Int) throws -> [InboundRecord] {
        var records: [InboundRecord] = []
        try read(configuration.topics.requests, until: count) { record in
            records.append(record)
            return true
        }
        return records
    }

    /// - Parameter counts: takes a record, and says whether it is one of the wanted.
    private func read(_ topic: String?, until count: Int, _ counts: (InboundRecord) -> Bool) throws {
        guard let topic else { return }
        let consumer = try Consumer(KafkaProperties(readerProperties), topic: topic)
        try consumer.assign((0..<partitions).map { PartitionOffset(partition: $0, offset: PartitionOffset.beginning) })
        var left = count
        while left > 0, let event = consumer.poll(waiting: Self.readMilliseconds) {
            // Other faults are about connections, from which the library recovers.
            if case .fault(let fault) = event, fault.isFatal { throw fault }
            if case .record(let record, _) = event, counts(record.take()) { left -= 1 }
        }
        try consumer.close(limit: 10_000)
    }

    private static func result(_ record: InboundRecord) -> DemoOutput? {
        guard let value = record.value, let root = try? JSONDocument(parsing: value).root,
            let outcome = root["reason"]?.string ?? root["verdict"]?.string, let source = root["source"],
            let partition = source["partition"]?.integer.flatMap({ Int32(exactly: $0) }),
            let offset = source["offset"]?.integer
        else { return nil }
        let place = RecordPlace(partition: partition, offset: offset)
        let requestID = root["requestId"]?.string ?? ""
        let text = String(decoding: value, as: UTF8.self)
        return DemoOutput(place: place, outcome: outcome, requestID: requestID, text: text)
    }

    private static func deadLetter(_ record: InboundRecord) -> DemoOutput? {
        func header(_ name: String) -> String? {
            record.headers.last { $0.name == Array(name.utf8) }?.value.map { String(decoding: $0, as: UTF8.self) }
        }
        guard let reason = header("dlq.reason"), let partition = header("dlq.partition").flatMap({ Int32($0) }),
            let offset = header("dlq.offset").flatMap({ Int64($0) })
        else { return nil }
        let text = "dlq.reason=\(reason), its value untouched: \((record.value?.count ?? 0).counted("byte"))"
        return DemoOutput(place: RecordPlace(partition: partition, offset: offset), outcome: "[\(reason)]", text: text)
    }
}
