internal import CRdkafka
package import KafkaPorts
internal import Threads

extension Consumer {
    /// Takes partitions over and reads on from the given offsets (``PartitionOffset/beginning`` for the oldest record).
    ///
    /// Answers ``GroupChange/assigned(_:)``; without a group it simply starts reading.
    package func assign(_ offsets: [PartitionOffset]) throws(KafkaFault) {
        owner.check()
        let list = TopicPartitionList(topic: topic, offsets: offsets)
        // The library copies the list.
        let code = unsafe list.withPointer { unsafe rd_kafka_assign(handle.pointer, $0) }
        try KafkaFault.check(code, "taking over partitions of \(topic)")
        answeredChange()
    }

    /// Gives every partition back. Answers ``GroupChange/revoked(_:)`` and ``GroupChange/lost(_:)``.
    package func unassign() throws(KafkaFault) {
        owner.check()
        // Null means: the empty assignment.
        try KafkaFault.check(unsafe rd_kafka_assign(handle.pointer, nil), "giving back partitions of \(topic)")
        answeredChange()
    }

    /// True as soon as the client knows that the group moved on, before ``poll(timeoutMilliseconds:)`` reports it.
    package var isAssignmentLost: Bool {
        // No pointers but the client's own.
        unsafe rd_kafka_assignment_lost(handle.pointer) != 0
    }

    /// The present assignment.
    package func assignment() throws(KafkaFault) -> [Int32] {
        var copy: UnsafeMutablePointer<rd_kafka_topic_partition_list_t>?
        // On success the library hands over a list that it has made.
        let code = unsafe rd_kafka_assignment(handle.pointer, &copy)
        try KafkaFault.check(code, "asking for the assignment")
        guard let list = unsafe copy else { return [] }
        defer { unsafe rd_kafka_topic_partition_list_destroy(list) }
        return unsafe TopicPartitionList.partitions(of: list, topic: topic)
    }
}
