internal import CRdkafka
package import KafkaPorts

extension Admin {
    /// The settings in force of each topic, defaults included (`cleanup.policy`, `message.timestamp.type` and so on).
    ///
    /// - Throws: a ``KafkaFault`` naming the first topic whose settings may not or cannot be read.
    package func settings(
        of topics: [String],
        timeoutMilliseconds: Int = 10_000
    ) throws(KafkaFault) -> [String: [String: String]] {
        guard !topics.isEmpty else { return [:] }
        return try settings(of: topics, RD_KAFKA_RESOURCE_TOPIC, timeoutMilliseconds)
    }

    /// The settings in force of one broker, the one that is listed first.
    package func brokerSettings(timeoutMilliseconds: Int = 10_000) throws(KafkaFault) -> [String: String] {
        guard let id = try handle.brokerIDs(timeoutMilliseconds: timeoutMilliseconds).first else { return [:] }
        return try settings(of: [String(id)], RD_KAFKA_RESOURCE_BROKER, timeoutMilliseconds)[String(id)] ?? [:]
    }

    private func settings(
        of names: [String],
        _ kind: rd_kafka_ResourceType_t,
        _ timeoutMilliseconds: Int
    ) throws(KafkaFault) -> [String: [String: String]] {
        // The library copies its arguments; the objects stay ours.
        var resources = unsafe names.map { unsafe rd_kafka_ConfigResource_new(kind, $0) }
        defer { unsafe resources.forEach { unsafe rd_kafka_ConfigResource_destroy($0) } }
        return try unsafe perform(
            RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS,
            "reading settings",
            timeoutMilliseconds: timeoutMilliseconds,
            call: { options, queue in
                unsafe rd_kafka_DescribeConfigs(handle.pointer, &resources, resources.count, options, queue)
            },
            read: { event throws(KafkaFault) in try unsafe Self.settings(in: event) }
        )
    }

    private static func settings(in event: OpaquePointer) throws(KafkaFault) -> [String: [String: String]] {
        var count = 0
        // Everything read here belongs to the event.
        guard let result = unsafe rd_kafka_event_DescribeConfigs_result(event),
            let resources = unsafe rd_kafka_DescribeConfigs_result_resources(result, &count)
        else { return [:] }
        var settings: [String: [String: String]] = [:]
        for index in 0..<count {
            guard let resource = unsafe resources[index] else { continue }
            let name = unsafe String(cString: rd_kafka_ConfigResource_name(resource))
            let code = unsafe rd_kafka_ConfigResource_error(resource)
            let kind = unsafe kind(resource)
            try KafkaFault.check(code, "reading the settings of \(kind) \(name)")
            settings[name] = unsafe entries(of: resource)
        }
        return settings
    }

    private static func kind(_ resource: OpaquePointer) -> String {
        unsafe rd_kafka_ConfigResource_type(resource) == RD_KAFKA_RESOURCE_BROKER ? "broker" : "topic"
    }

    private static func entries(of resource: OpaquePointer) -> [String: String] {
        var count = 0
        // Names and values belong to the resource; a secret's value is null.
        guard let entries = unsafe rd_kafka_ConfigResource_configs(resource, &count) else { return [:] }
        var settings: [String: String] = [:]
        for index in 0..<count {
            guard let entry = unsafe entries[index], let name = unsafe rd_kafka_ConfigEntry_name(entry),
                let value = unsafe rd_kafka_ConfigEntry_value(entry)
            else { continue }
            unsafe settings[String(cString: name)] = String(cString: value)
        }
        return settings
    }
}
