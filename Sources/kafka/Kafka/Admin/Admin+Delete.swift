internal import CRdkafka
package import KafkaPorts

extension Admin {
    /// Deletes topics; absent ones are left out.
    ///
    /// - Throws: the first refusal.
    package func deleteTopics(_ names: [String], timeoutMilliseconds: Int = 30_000) throws(KafkaFault) {
        guard !names.isEmpty else { return }
        // The library copies its arguments; the objects stay ours.
        var made = unsafe names.map { unsafe rd_kafka_DeleteTopic_new($0) }
        defer { unsafe made.forEach { unsafe rd_kafka_DeleteTopic_destroy($0) } }
        try unsafe perform(
            RD_KAFKA_ADMIN_OP_DELETETOPICS,
            "deleting topics",
            timeoutMilliseconds: timeoutMilliseconds,
            call: { options, queue in
                let wait = clampedMilliseconds(timeoutMilliseconds)
                _ = unsafe rd_kafka_AdminOptions_set_operation_timeout(options, wait, nil, 0)
                unsafe rd_kafka_DeleteTopics(handle.pointer, &made, made.count, options, queue)
            },
            read: { event throws(KafkaFault) in try unsafe Self.checkTopics(event) }
        )
    }

    private static func checkTopics(_ event: OpaquePointer) throws(KafkaFault) {
        var count = 0
        // Everything read here belongs to the event.
        guard let result = unsafe rd_kafka_event_DeleteTopics_result(event),
            let topics = unsafe rd_kafka_DeleteTopics_result_topics(result, &count)
        else { return }
        for index in 0..<count {
            guard let topic = unsafe topics[index] else { continue }
            let code = unsafe rd_kafka_topic_result_error(topic)
            if code == RD_KAFKA_RESP_ERR_NO_ERROR || code == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART { continue }
            let name = unsafe rd_kafka_topic_result_name(topic).map { unsafe String(cString: $0) } ?? "a topic"
            throw KafkaFault(code, doing: "deleting topic \(name)")
        }
    }

    /// Deletes consumer groups without members, with their offsets; absent ones are left out.
    ///
    /// - Throws: the first refusal.
    package func deleteGroups(_ names: [String], timeoutMilliseconds: Int = 30_000) throws(KafkaFault) {
        // One group a call, so that a fault is known to be its own.
        for name in names {
            var made = unsafe rd_kafka_DeleteGroup_new(name)
            defer { unsafe rd_kafka_DeleteGroup_destroy(made) }
            try unsafe perform(
                RD_KAFKA_ADMIN_OP_DELETEGROUPS,
                "deleting group \(name)",
                timeoutMilliseconds: timeoutMilliseconds,
                call: { options, queue in unsafe rd_kafka_DeleteGroups(handle.pointer, &made, 1, options, queue) },
                read: { event throws(KafkaFault) in try unsafe Self.checkGroup(event, name) }
            )
        }
    }

    private static func checkGroup(_ event: OpaquePointer, _ name: String) throws(KafkaFault) {
        var count = 0
        // Everything read here belongs to the event.
        guard let result = unsafe rd_kafka_event_DeleteGroups_result(event),
            let groups = unsafe rd_kafka_DeleteGroups_result_groups(result, &count), count > 0,
            let group = unsafe groups[0], let error = unsafe rd_kafka_group_result_error(group)
        else { return }
        let code = unsafe rd_kafka_error_code(error)
        guard code != RD_KAFKA_RESP_ERR_NO_ERROR, code != RD_KAFKA_RESP_ERR_GROUP_ID_NOT_FOUND else { return }
        throw KafkaFault(code, doing: "deleting group \(name)")
    }
}
