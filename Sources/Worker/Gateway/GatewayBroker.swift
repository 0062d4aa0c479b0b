internal import Broker
internal import Gateway
internal import Kafka
internal import Log
internal import Settings

/// A gateway's clients of the broker: one that writes requests, and readers of answers.
final class GatewayBroker {
    private static let clientDefaults = [
        // A request is sent at once: others that wait for the connection go with it anyway.
        ("linger.ms", "0"),
        // After this a request that was never sent is given up, and its call may be tried again.
        ("message.timeout.ms", "10000"), ("fetch.error.backoff.ms", "100"), ("reconnect.backoff.max.ms", "2000"),
    ]

    let topics: GatewayTopics
    private let properties: KafkaProperties
    private var readers: [AnswerReader] = []
    let writer: RequestWriter
    private let trouble: @Sendable (KafkaFault) -> Void

    /// - Parameters:
    ///   - properties: librdkafka's.
    ///   - partitions: of the requests and their answers.
    ///   - trouble: takes faults that are ridden out, on any thread.
    init(
        _ configuration: Configuration,
        properties: [(String, String)],
        partitions: Int32,
        instance: String,
        trouble: @escaping @Sendable (KafkaFault) -> Void
    ) {
        var own = KafkaProperties(properties)
        if own["client.id"] == nil { own["client.id"] = "gateway-\(instance)" }
        self.properties = own.completed(defaults: Self.clientDefaults)
        topics = GatewayTopics(
            names: configuration.topics,
            partitions: partitions,
            partitioner: configuration.partitioner.partitioner,
            properties: self.properties
        )
        var counts = [topics.names.requests: partitions]
        if let events = topics.names.outputs[.events] { counts[events] = partitions }
        writer = RequestWriter(self.properties, counts: counts, trouble: trouble)
        self.trouble = trouble
    }

    /// Starts the readers at the ends of their topics, and then the writer: no answer lies before these ends.
    func start(_ gateway: Gateway) throws(KafkaFault) {
        let all = Array(0..<topics.partitions)
        let takers: [(OutputTopic, @Sendable ([TopicRecord]) -> Void)] = [
            (.results, { gateway.note(results: $0) }), (.tokens, { gateway.note(tokens: $0) }),
        ]
        // After a fault those that run are left as they are.
        for (stream, take) in takers.dropFirst(readers.count) {
            let topic = topics.names.outputs[stream] ?? ""
            let reader = AnswerReader(properties, topic: topic, partitions: all, take: take, trouble: trouble)
            try reader.start()
            readers.append(reader)
        }
        try writer.start { gateway.note($0) }
    }

    func stop() {
        writer.stop()
        for reader in readers { reader.stop() }
    }
}
