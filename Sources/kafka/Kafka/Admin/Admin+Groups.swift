internal import CRdkafka
package import KafkaPorts

/// A consumer group as its coordinator describes it.
package struct GroupDescription: Sendable, Equatable {
    /// `Empty`, `Stable`, `PreparingRebalance`, `Dead` (also for a group that never existed) and so on.
    package var state: String
    package var members: Int
    /// The members' names: a static one, or else the client's, and the host. Foreign text.
    package var names: [String] = []
    /// The static members by their instance, the others by their client's name.
    package var ids: Set<[UInt8]> = []

    package var isEmpty: Bool { members == 0 }

    package init(state: String, members: Int) { (self.state, self.members) = (state, members) }
}

extension Admin {
    /// One group's state and number of members.
    package func group(_ id: String, timeoutMilliseconds: Int = 10_000) throws(KafkaFault) -> GroupDescription {
        // The text is lent for the call, which copies it.
        try unsafe perform(
            RD_KAFKA_ADMIN_OP_DESCRIBECONSUMERGROUPS,
            "describing group \(id)",
            timeoutMilliseconds: timeoutMilliseconds,
            call: { options, queue in
                unsafe id.withCString { name in
                    var names: [UnsafePointer<CChar>?] = unsafe [name]
                    unsafe rd_kafka_DescribeConsumerGroups(handle.pointer, &names, 1, options, queue)
                }
            },
            read: { event throws(KafkaFault) in try unsafe Self.group(in: event, id) }
        )
    }

    private static func group(in event: OpaquePointer, _ id: String) throws(KafkaFault) -> GroupDescription {
        var count = 0
        // Everything read here belongs to the event.
        guard let result = unsafe rd_kafka_event_DescribeConsumerGroups_result(event),
            let groups = unsafe rd_kafka_DescribeConsumerGroups_result_groups(result, &count), count > 0,
            let group = unsafe groups[0]
        else { throw .fatal("the broker gave no answer about group \(id)") }
        if let error = unsafe rd_kafka_ConsumerGroupDescription_error(group) {
            throw unsafe KafkaFault(rd_kafka_error_code(error), doing: "describing group \(id)")
        }
        let state = unsafe rd_kafka_ConsumerGroupDescription_state(group)
        let members = unsafe rd_kafka_ConsumerGroupDescription_member_count(group)
        var description = GroupDescription(
            state: unsafe String(cString: rd_kafka_consumer_group_state_name(state)),
            members: Int(members)
        )
        for place in 0..<members {
            guard let member = unsafe rd_kafka_ConsumerGroupDescription_member(group, place) else { continue }
            let (id, host) = unsafe Self.name(of: member)
            if let id { description.ids.insert(Array(id.utf8)) }
            let name = id ?? "unnamed"
            description.names.append(host.isEmpty ? name : "\(name) on \(host.drop { $0 == "/" })")
        }
        return description
    }

    private static func name(of member: OpaquePointer) -> (id: String?, host: String) {
        // The event's own texts.
        let fixed = unsafe rd_kafka_MemberDescription_group_instance_id(member).map { unsafe String(cString: $0) }
        let client = unsafe rd_kafka_MemberDescription_client_id(member).map { unsafe String(cString: $0) }
        let host = unsafe rd_kafka_MemberDescription_host(member).map { unsafe String(cString: $0) } ?? ""
        return (fixed.flatMap { $0.isEmpty ? nil : $0 } ?? client, host)
    }
}
