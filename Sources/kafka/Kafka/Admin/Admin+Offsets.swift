internal import CRdkafka
package import KafkaPorts

extension Admin {
    /// A group's committed offsets of one topic, with their metadata. Needs no membership in the group.
    ///
    /// A consumer that never joins asks for them. The library's ListConsumerGroupOffsets ends the process where the broker
    /// is no longer the group's coordinator: its client has no group, whose coordinator it then looks for (to 2.15.0).
    ///
    /// - Throws: a ``KafkaFault``; a retriable one where a transaction keeps offsets pending until the time is up.
    package func committedOffsets(
        ofGroup group: String,
        topic: String,
        partitions: [Int32],
        timeoutMilliseconds: Int = 10_000
    ) throws(KafkaFault) -> [CommittedOffset] {
        let complete = properties.withoutGroup().completed(
            defaults: [("socket.nagle.disable", "true"), ("log_level", "0")],
            forced: [("group.id", group), ("isolation.level", "read_committed"), ("enable.auto.commit", "false")]
        )
        let asker = try ClientHandle(.consumer, complete, context: CallbackContext())
        do throws(KafkaFault) {
            return try asker.committed(topic, partitions, timeoutMilliseconds: timeoutMilliseconds)
        } catch { throw asker.refused(error) }
    }

    /// Sets a group's next offsets to read of one topic. The group must have no members.
    ///
    /// - Throws: a ``KafkaFault``: `UNKNOWN_MEMBER_ID` where the group has members, which then own its offsets.
    package func setOffsets(
        ofGroup group: String,
        topic: String,
        _ offsets: [PartitionOffset],
        timeoutMilliseconds: Int = 10_000
    ) throws(KafkaFault) {
        guard !offsets.isEmpty else { return }
        let action = "setting the offsets of group \(group)"
        let list = TopicPartitionList(topic: topic, offsets: offsets)
        // The library copies the list; the object is ours.
        let made = unsafe list.withPointer { unsafe rd_kafka_AlterConsumerGroupOffsets_new(group, $0) }
        var requests = unsafe [made]
        defer { unsafe rd_kafka_AlterConsumerGroupOffsets_destroy(made) }
        try unsafe perform(
            RD_KAFKA_ADMIN_OP_ALTERCONSUMERGROUPOFFSETS,
            action,
            timeoutMilliseconds: timeoutMilliseconds,
            call: { options, queue in
                unsafe rd_kafka_AlterConsumerGroupOffsets(handle.pointer, &requests, 1, options, queue)
            },
            read: { event throws(KafkaFault) in
                let result = unsafe rd_kafka_event_AlterConsumerGroupOffsets_result(event)
                var count = 0
                let groups = unsafe rd_kafka_AlterConsumerGroupOffsets_result_groups(result, &count)
                try unsafe Self.check(count > 0 ? groups?[0] : nil, action)
            }
        )
    }

    /// The group's answer for each partition. The answer belongs to its event.
    private static func check(_ group: OpaquePointer?, _ action: String) throws(KafkaFault) {
        guard let group = unsafe group else { throw .fatal("\(action): the broker gave no answer about it") }
        if let error = unsafe rd_kafka_group_result_error(group) {
            throw unsafe KafkaFault(rd_kafka_error_code(error), doing: action)
        }
        guard let list = unsafe rd_kafka_group_result_partitions(group) else { return }
        if let fault = unsafe TopicPartitionList.firstFault(in: UnsafeMutablePointer(mutating: list), action) {
            throw fault
        }
    }

    /// The first and last offsets of partitions; records of open transactions lie before the end.
    package func watermarks(
        of topic: String,
        partitions: [Int32],
        timeoutMilliseconds: Int = 10_000
    ) throws(KafkaFault) -> [(partition: Int32, watermarks: Watermarks)] {
        let ends = try PartitionEnds(properties)
        let found = try ends.watermarks(of: topic, partitions, timeoutMilliseconds: timeoutMilliseconds)
        return partitions.compactMap { partition in found[partition].map { (partition, $0) } }
    }
}
