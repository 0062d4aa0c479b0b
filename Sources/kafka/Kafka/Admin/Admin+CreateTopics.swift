internal import CRdkafka
package import KafkaPorts

/// The outcome for one topic.
package enum TopicCreation: Sendable, Equatable {
    case created
    /// Exists already, and is left as it is.
    case exists
    case failed(KafkaFault)
}

extension Admin {
    /// Creates topics; those that exist are left alone. The answers are in the order of `topics`.
    package func createTopics(
        _ topics: [NewTopic],
        timeoutMilliseconds: Int = 30_000
    ) throws(KafkaFault) -> [TopicCreation] {
        guard !topics.isEmpty else { return [] }
        var made: [OpaquePointer?] = unsafe []
        // The library copies its arguments; the objects stay ours.
        defer { unsafe made.forEach { unsafe rd_kafka_NewTopic_destroy($0) } }
        for topic in topics { try unsafe made.append(Self.make(topic)) }
        let outcomes = try unsafe perform(
            RD_KAFKA_ADMIN_OP_CREATETOPICS,
            "creating topics",
            timeoutMilliseconds: timeoutMilliseconds,
            call: { options, queue in
                // The broker answers when the topics exist, not when it has noted the request.
                let wait = clampedMilliseconds(timeoutMilliseconds)
                _ = unsafe rd_kafka_AdminOptions_set_operation_timeout(options, wait, nil, 0)
                unsafe rd_kafka_CreateTopics(handle.pointer, &made, made.count, options, queue)
            },
            read: { event throws(KafkaFault) in unsafe Self.outcomes(of: event) }
        )
        return topics.map { outcomes[$0.name] ?? .failed(.fatal("the broker gave no answer about topic \($0.name)")) }
    }

    private static func make(_ topic: NewTopic) throws(KafkaFault) -> OpaquePointer {
        let partitions = Int32(clamping: topic.partitions)
        let replication = Int32(clamping: topic.replication ?? -1)
        let (made, text) = unsafe libraryText {
            unsafe rd_kafka_NewTopic_new(topic.name, partitions, replication, $0, $1)
        }
        guard let made = unsafe made else { throw .invalid("topic \(topic.name): \(text)") }
        for (name, value) in topic.settings {
            let code = unsafe rd_kafka_NewTopic_set_config(made, name, value)
            guard code == RD_KAFKA_RESP_ERR_NO_ERROR else {
                unsafe rd_kafka_NewTopic_destroy(made)
                throw KafkaFault(code, doing: "topic \(topic.name), setting \(name)")
            }
        }
        return unsafe made
    }

    private static func outcomes(of event: OpaquePointer) -> [String: TopicCreation] {
        var count = 0
        // Everything read here belongs to the event.
        guard let result = unsafe rd_kafka_event_CreateTopics_result(event),
            let topics = unsafe rd_kafka_CreateTopics_result_topics(result, &count)
        else { return [:] }
        var outcomes: [String: TopicCreation] = [:]
        for index in 0..<count {
            guard let topic = unsafe topics[index], let name = unsafe rd_kafka_topic_result_name(topic) else {
                continue
            }
            let code = unsafe rd_kafka_topic_result_error(topic)
            let text = unsafe rd_kafka_topic_result_error_string(topic).map { unsafe String(cString: $0) }
            let topicName = unsafe String(cString: name)
            outcomes[topicName] =
                switch code {
                case RD_KAFKA_RESP_ERR_NO_ERROR: .created
                case RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS: .exists
                default: .failed(KafkaFault(code, "creating topic \(topicName): \(text ?? KafkaFault.text(of: code))"))
                }
        }
        return outcomes
    }
}

/// A topic to be created. Without `replication` the broker's default applies.
package struct NewTopic: Sendable {
    package var name: String
    package var partitions: Int
    package var replication: Int?
    package var settings: [(name: String, value: String)]

    package init(
        name: String,
        partitions: Int,
        replication: Int? = nil,
        settings: [(name: String, value: String)] = []
    ) {
        (self.name, self.partitions, self.replication, self.settings) = (name, partitions, replication, settings)
    }
}
