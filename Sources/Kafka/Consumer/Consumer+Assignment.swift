internal import CRdkafka
package import KafkaPorts

extension Consumer {
    /// Takes partitions over and reads on from the given offsets (``PartitionOffset/beginning`` for the oldest record).
    ///
    /// Answers ``GroupChange/assigned(_:)``; without a group it simply starts reading.
    package func assign(_ offsets: [PartitionOffset]) throws(KafkaFault) {
        let list = TopicPartitionList(topic: topic, offsets: offsets)
        // The library copies the list.
        let code = unsafe list.withPointer { unsafe rd_kafka_assign(handle.pointer, $0) }
        try KafkaFault.check(code, "taking over partitions of \(topic)")
        answeredChange()
    }

    /// Takes partitions over without reading them yet: no record of theirs comes before they are started or resumed.
    ///
    /// The library drops a step of a partition if a later one is processed first, and reports nothing. A pause or resume
    /// while its thread stops and starts partitions can therefore lose a start. This call pauses assigned partitions
    /// before it reassigns them; the pause survives. The starts of new ones are queued when `assign` returns, unless
    /// a commit is in flight. Call ``start(_:timeoutMilliseconds:)`` to read them.
    package func assignPaused(_ offsets: [PartitionOffset]) throws(KafkaFault) {
        let numbers = offsets.map(\.partition)
        let before = Set(try assignment())
        // If the pause fails, as it does for a partition that the topic lost, records arrive before the resume.
        try? pause(numbers.filter(before.contains))
        try assign(offsets)
        // Records fetched between the two calls are out of date from here on, and dropped.
        try pause(numbers.filter { !before.contains($0) })
    }

    /// Gives every partition back. Answers ``GroupChange/revoked(_:)`` and ``GroupChange/lost(_:)``.
    package func unassign() throws(KafkaFault) {
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
        // On success the library hands over a list of its own making.
        let code = unsafe rd_kafka_assignment(handle.pointer, &copy)
        try KafkaFault.check(code, "asking for the assignment")
        guard let list = unsafe copy else { return [] }
        defer { unsafe rd_kafka_topic_partition_list_destroy(list) }
        return unsafe TopicPartitionList.partitions(of: list, topic: topic)
    }

    /// Stops reading these partitions; prefetched records are dropped and fetched again on ``resume(_:)``.
    package func pause(_ partitions: [Int32]) throws(KafkaFault) {
        try unsafe each(partitions, "pausing \(topic)") { unsafe rd_kafka_pause_partitions(handle.pointer, $0) }
    }

    package func resume(_ partitions: [Int32]) throws(KafkaFault) {
        try unsafe each(partitions, "resuming \(topic)") { unsafe rd_kafka_resume_partitions(handle.pointer, $0) }
    }

    /// Reads on from other offsets; records fetched before are no longer delivered.
    ///
    /// - Parameter timeoutMilliseconds: with libraries before 2.1.0 for each partition, else for all of them.
    /// - Throws: a retriable ``KafkaFault`` for partitions that are not being read yet, or that gave no answer in time.
    package func seek(_ offsets: [PartitionOffset], timeoutMilliseconds: Int) throws(KafkaFault) {
        guard !offsets.isEmpty else { return }
        let list = TopicPartitionList(topic: topic, offsets: offsets)
        let units = LibraryVersion.current.seekUnitsPerMillisecond
        let timeout = clampedMilliseconds(Int(clampedMilliseconds(timeoutMilliseconds)) * units)
        // The library marks the list's entries and does not keep it. Zero would mean: do not wait for the outcome.
        let error = unsafe list.withPointer { unsafe rd_kafka_seek_partitions(handle.pointer, $0, max(1, timeout)) }
        if let error = unsafe error { throw unsafe KafkaFault(takingOwnershipOf: error, doing: "seeking in \(topic)") }
        guard let fault = list.firstFault("seeking in \(topic)") else { return }
        // The library dropped the seek for a later step of its own: the caller retries, as before the start.
        let isOvertaken = fault.code == RD_KAFKA_RESP_ERR__OUTDATED.rawValue
        throw isOvertaken ? KafkaFault(RD_KAFKA_RESP_ERR__STATE, fault.message) : fault
    }

    /// Reads partitions that ``assignPaused(_:)`` took over, from the given offsets.
    ///
    /// - Throws: a retriable ``KafkaFault``, as a seek does, while the library has not started them: then call it again.
    package func start(_ offsets: [PartitionOffset], timeoutMilliseconds: Int) throws(KafkaFault) {
        guard !offsets.isEmpty else { return }
        // A seek fails until the library's thread has started the partition: only then nothing can drop the resume.
        try seek(offsets, timeoutMilliseconds: timeoutMilliseconds)
        try resume(offsets.map(\.partition))
        // A resume does not wake the broker's thread, which may sleep for a second; a seek does. The lookup of a first
        // offset wakes it too, and must not run twice: the late answer would set the position back.
        try seek(offsets.filter { $0.offset >= 0 }, timeoutMilliseconds: timeoutMilliseconds)
        let asleep = offsets.filter { $0.offset > 0 }.map(\.partition)
        guard !asleep.isEmpty, !LibraryVersion.current.seekWakesLeader else { return }
        handle.wakeLeaders(of: topic, asleep, timeoutMilliseconds: Self.wakeMilliseconds)
    }

    private static let wakeMilliseconds = 20

    private func each(
        _ partitions: [Int32],
        _ action: String,
        _ call: (UnsafeMutablePointer<rd_kafka_topic_partition_list_t>) -> rd_kafka_resp_err_t
    ) throws(KafkaFault) {
        let list = TopicPartitionList(topic: topic, partitions: partitions)
        // The library marks the list's entries and does not keep it.
        try KafkaFault.check(unsafe list.withPointer(call), action)
        if let fault = list.firstFault(action) { throw fault }
    }
}
