internal import Broker
internal import Crypto
package import Gateway
internal import Kafka
package import KafkaPorts
package import Settings
internal import Streams
internal import Telemetry

/// A gateway's clients of the broker: one that writes requests, and readers of answers.
package final class GatewayBroker {
    private static let clientDefaults = [
        // A request is sent at once: others that wait for the connection go with it anyway.
        ("linger.ms", "0"),
        // After this a request that was never sent is given up, and its call may be tried again.
        ("message.timeout.ms", "10000"), ("queue.buffering.max.messages", "100000"),
        ("queue.buffering.max.kbytes", "131072"), ("fetch.error.backoff.ms", "100"),
        ("reconnect.backoff.max.ms", "2000"),
    ]

    let topics: GatewayTopics
    private let properties: KafkaProperties
    private var readers: [AnswerReader] = []
    let writer: RequestWriter
    private let trouble: @Sendable (KafkaFault) -> Void

    /// - Parameter trouble: takes faults that are ridden out, on any thread.
    package init(
        _ configuration: Configuration,
        properties: [(String, String)],
        counts: TopicPartitions,
        instance: String,
        trouble: @escaping @Sendable (KafkaFault) -> Void
    ) {
        var own = KafkaProperties(properties)
        if own["client.id"] == nil { own["client.id"] = "gateway-\(instance)" }
        self.properties = own.completed(defaults: Self.clientDefaults)
        topics = GatewayTopics(
            names: configuration.topics,
            partitions: counts.requests,
            partitioner: configuration.partitioner.partitioner,
            // Two gateways may share one: each drops what the other waits for.
            replyTo: counts.replies.map { Partitioner.crc32.partition(of: Array(instance.utf8), count: $0) }
        )
        var known = [topics.names.requests: counts.requests]
        if let events = topics.names.outputs[.events] { known[events] = counts.requests }
        let described = self.properties.completed(defaults: [("statistics.interval.ms", "2000")])
        writer = RequestWriter(described, counts: known, trouble: trouble)
        self.trouble = trouble
    }

    /// A gateway on these clients, with this machine's clocks and randomness.
    package func gateway(_ rules: GatewayRules) -> Gateway {
        let dependencies = Gateway.Dependencies(
            wallClock: WallClock.milliseconds,
            uptime: { Uptime.milliseconds() ?? 0 },
            randomBytes: SecureRandom.bytes
        )
        return Gateway(rules, topics: topics, dependencies: dependencies, outlet: writer)
    }

    /// Starts the readers at the ends of their topics, and then the writer: no answer lies before these ends.
    package func start(_ gateway: Gateway) throws(KafkaFault) {
        let all = Array(0..<topics.partitions)
        var takers: [(stream: OutputTopic, partitions: [Int32], take: @Sendable ([TopicRecord]) -> Void)] = [
            (.results, all, { gateway.note(results: $0) }), (.tokens, all, { gateway.note(tokens: $0) }),
        ]
        if let partition = topics.replyTo { takers = [(.replies, [partition], { gateway.note(replies: $0) })] }
        // After a fault those that run are left as they are.
        for (stream, partitions, take) in takers.dropFirst(readers.count) {
            let topic = topics.names.outputs[stream] ?? ""
            let make = { @Sendable [properties] () throws(KafkaFault) in try TopicReader(properties, topic: topic) }
            let reader = AnswerReader(of: partitions, make, take: take, trouble: trouble)
            try reader.start()
            readers.append(reader)
        }
        try writer.start { gateway.note($0) }
        for reader in readers { reader.awaitFirst() }
    }

    package func stop() {
        writer.stop()
        for reader in readers { reader.stop() }
    }
}
