internal import Broker
internal import JSON
internal import Kafka
internal import KafkaPorts
package import Settings
internal import Streams
internal import Traffic

/// A gateway's part: calls go onto the requests topic, answers come from the results and tokens topics, by readers
/// without a group that start at the topics' ends.
package final class KafkaStockLink: StockLink {
    private struct Open {
        /// Whether the answer comes on the tokens topic, not in the result.
        let hasToken: Bool
        var status: Int?
        var reason: String?
        var body: [UInt8]?
    }

    private let topics: TopicNames
    private let partitions: Int32
    private var pacer: Pacer
    private let producer: Producer
    private let results: Consumer
    private let tokens: Consumer
    private var open: [String: Open] = [:]
    private var keyless: Int32 = 0

    /// - Parameters:
    ///   - properties: librdkafka's; `group.id` is needed and not joined.
    ///   - partitions: of every topic.
    ///   - rate: records per second; nil = as the answers come.
    package init(properties: [(String, String)], topics: TopicNames, partitions: Int32, rate: Double? = nil) throws {
        (self.topics, self.partitions) = (topics, partitions)
        // Faults come with what they keep from ending.
        let properties = KafkaProperties(properties).completed(defaults: [("log_level", "0")])
        producer = try Producer(properties)
        func reader(_ stream: OutputTopic) throws -> Consumer {
            guard let topic = topics.outputs[stream] else { throw CommandFault("no topic is set for \(stream).") }
            let consumer = try Consumer(properties, topic: topic)
            try consumer.assign(
                try (0..<partitions).map { partition in
                    // Topics that were just created have no leader yet.
                    let end = try BrokerRetry.ask(for: .seconds(60)) { () throws(KafkaFault) in
                        try consumer.watermarks(of: partition, timeoutMilliseconds: 10_000).high
                    }
                    return PartitionOffset(partition: partition, offset: end)
                }
            )
            return consumer
        }
        results = try reader(.results)
        tokens = try reader(.tokens)
        pacer = Pacer(recordsPerSecond: rate)
    }

    var isReady: Bool { pacer.millisecondsToWait() == nil }

    func send(_ call: StockMember.Call, id: String) throws {
        pacer.count()
        open[id] = Open(hasToken: call.hasToken)
        keyless = (keyless + 1) % partitions
        producer.poll(timeoutMilliseconds: 0)
        try producer.produce(
            topic: topics.requests,
            partition: call.key.map { Partitioner.murmur2.partition(of: $0, count: partitions) } ?? keyless,
            key: call.key,
            value: call.value,
            headers: [RecordHeader("request-id", id)] + call.headers
        )
    }

    /// Waits for the last acknowledgements and closes the connections to the broker.
    func close() throws {
        try producer.flush(timeoutMilliseconds: 10_000)
        for consumer in [results, tokens] { try consumer.close(limit: 10_000) }
    }

    func forget(_ id: String) { open[id] = nil }

    func poll(milliseconds: Int) throws -> [LinkAnswer] {
        var answers: [LinkAnswer] = []
        try drain(results, milliseconds) { note(result: $0, in: &answers) }
        try drain(tokens, 0) { note(token: $0, in: &answers) }
        return answers
    }

    private func drain(_ consumer: Consumer, _ milliseconds: Int, _ note: (InboundRecord) -> Void) throws {
        var wait = milliseconds
        for _ in 0..<1000 {
            guard let event = consumer.poll(waiting: wait) else { return }
            wait = 0
            // Other faults are about connections, from which the library recovers.
            if case .fault(let fault) = event, fault.isFatal { throw fault }
            if case .record(let record, _) = event { note(record.take()) }
        }
    }

    /// The call that a record answers, by its header: others' results are not parsed.
    private func answered(by record: InboundRecord) -> (id: String, call: Open)? {
        let header = record.headers.last { $0.name.elementsEqual("request-id".utf8) }?.value
        guard let id = header.map({ String(decoding: $0, as: UTF8.self) }), let call = open[id] else { return nil }
        return (id, call)
    }

    private func note(result record: InboundRecord, in answers: inout [LinkAnswer]) {
        guard case (let id, var call)? = answered(by: record),
            let root = try? JSONDocument(parsing: record.value ?? []).root,
            let status = root["status"]?["code"]?.integer
        else { return }
        call.status = Int(status)
        call.reason = root["reason"]?.string
        if !call.hasToken { call.body = root["response"]?.writtenText }
        finish(id, call, &answers)
    }

    private func note(token record: InboundRecord, in answers: inout [LinkAnswer]) {
        guard case (let id, var call)? = answered(by: record) else { return }
        call.body = record.value
        finish(id, call, &answers)
    }

    /// The two halves of an answer come in any order.
    private func finish(_ id: String, _ call: Open, _ answers: inout [LinkAnswer]) {
        open[id] = call
        guard let status = call.status, status != 200 || call.body != nil else { return }
        open[id] = nil
        answers.append(LinkAnswer(id: id, status: status, reason: call.reason, body: call.body ?? []))
    }
}
