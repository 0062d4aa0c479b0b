internal import CRdkafka
package import KafkaPorts

extension Consumer {
    package func subscribe() throws(KafkaFault) {
        let handle = try open()
        let list = TopicPartitionList(topic: topic, partitions: [-1])
        // The library copies the list.
        let code = unsafe list.withPointer { unsafe rd_kafka_subscribe(handle.pointer, $0) }
        try KafkaFault.check(code, "subscribing to \(topic)")
    }

    /// Answers ``GroupEvent/assigned(_:)``; without a group it simply starts reading.
    package func assign(_ starts: [PartitionOffset]) throws(KafkaFault) {
        let handle = try open()
        let list = TopicPartitionList(topic: topic, offsets: starts)
        // The library copies the list.
        let code = unsafe list.withPointer { unsafe rd_kafka_assign(handle.pointer, $0) }
        try KafkaFault.check(code, "taking over partitions of \(topic)")
        hasUnansweredChange = false
    }

    package func unassign() throws(KafkaFault) {
        let handle = try open()
        // Null means: the empty assignment.
        try KafkaFault.check(unsafe rd_kafka_assign(handle.pointer, nil), "giving back partitions of \(topic)")
        hasUnansweredChange = false
    }

    package var isAssignmentLost: Bool {
        guard let handle = current else { return true }
        // No pointers but the client's own.
        return unsafe rd_kafka_assignment_lost(handle.pointer) != 0
    }

    package func assignment() throws(KafkaFault) -> Set<Int32> {
        let handle = try open()
        var copy: UnsafeMutablePointer<rd_kafka_topic_partition_list_t>?
        // On success the library hands over a list that it has made.
        let code = unsafe rd_kafka_assignment(handle.pointer, &copy)
        try KafkaFault.check(code, "asking for the assignment")
        guard let list = unsafe copy else { return [] }
        defer { unsafe rd_kafka_topic_partition_list_destroy(list) }
        return unsafe Set(TopicPartitionList.partitions(of: list, topic: topic))
    }

    package func pause(_ partitions: [Int32]) -> [Int32: KafkaFault] {
        unsafe each(partitions, "pausing \(topic)") { unsafe rd_kafka_pause_partitions($0, $1) }
    }

    package func resume(_ partitions: [Int32]) -> [Int32: KafkaFault] {
        unsafe each(partitions, "resuming \(topic)") { unsafe rd_kafka_resume_partitions($0, $1) }
    }

    private func each(
        _ partitions: [Int32],
        _ action: String,
        _ call: (OpaquePointer, UnsafeMutablePointer<rd_kafka_topic_partition_list_t>) -> rd_kafka_resp_err_t
    ) -> [Int32: KafkaFault] {
        do throws(KafkaFault) {
            let handle = try open()
            let list = TopicPartitionList(topic: topic, partitions: partitions)
            // The library marks the list's entries and does not keep it.
            try KafkaFault.check(unsafe list.withPointer { unsafe call(handle.pointer, $0) }, action)
            return list.faults(action)
        } catch {
            return Dictionary(partitions.map { ($0, error) }, uniquingKeysWith: { first, _ in first })
        }
    }

    package func seek(_ starts: [PartitionOffset], limit milliseconds: Int) -> [Int32: SeekFault] {
        guard !starts.isEmpty else { return [:] }
        do throws(KafkaFault) {
            let handle = try open()
            let list = TopicPartitionList(topic: topic, offsets: starts)
            let units = LibraryVersion.current.seekUnitsPerMillisecond
            let timeout = clampedMilliseconds(Int(clampedMilliseconds(milliseconds)) * units)
            // The library marks the list's entries and does not keep it. Zero would mean: do not wait for the outcome.
            let error = unsafe list.withPointer { unsafe rd_kafka_seek_partitions(handle.pointer, $0, max(1, timeout)) }
            // If the time was up, the entries that were not answered say so.
            if let error = unsafe error { unsafe rd_kafka_error_destroy(error) }
            return list.faults("seeking in \(topic)").mapValues(SeekFault.init)
        } catch {
            return Dictionary(starts.map { ($0.partition, .unknown(error)) }, uniquingKeysWith: { first, _ in first })
        }
    }

    package func wake(_ partitions: [Int32], limit milliseconds: Int) {
        // Not needed where a seek wakes the leader's thread.
        guard !partitions.isEmpty, !LibraryVersion.current.seekWakesLeader, let handle = try? open() else { return }
        handle.wakeLeaders(of: topic, partitions, timeoutMilliseconds: milliseconds)
    }
}

extension SeekFault {
    fileprivate init(_ fault: KafkaFault) {
        switch rd_kafka_resp_err_t(fault.code) {
        case RD_KAFKA_RESP_ERR__OUTDATED: self = .overtaken
        case RD_KAFKA_RESP_ERR__STATE, RD_KAFKA_RESP_ERR__PREV_IN_PROGRESS: self = .notStarted
        case RD_KAFKA_RESP_ERR__IN_PROGRESS, RD_KAFKA_RESP_ERR__TIMED_OUT: self = .timedOut
        default: self = .unknown(fault)
        }
    }
}
