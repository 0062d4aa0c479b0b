package import KafkaPorts
internal import Streams
internal import Threads

/// A member's consumer on librdkafka. It translates memory, units, callbacks and texts, and holds no rule.
///
/// Two threads that issue steps of one partition could make the library drop a stop, and then the next start would end the
/// process: its client checks each call.
package final class LibraryConsumer: GroupConsumer {
    package let topic: String
    /// nil once it was closed or given up.
    private var consumer: Consumer?
    private var commits: OffsetCommits?
    /// The last observations of a client that is gone.
    private var lastObservations = ConsumerObservations()
    /// The record before: only the next one tells how large its headers are.
    private var last: ConsumedMessage?

    /// - Parameter topic: one topic's name, no pattern.
    /// - Throws: a ``KafkaFault`` that names the fault. Nothing is connected yet.
    package init(_ properties: KafkaProperties, topic: String) throws(KafkaFault) {
        let consumer = try Consumer(properties, topic: topic)
        (self.consumer, self.topic) = (consumer, topic)
        commits = OffsetCommits(consumer)
    }

    func open() throws(KafkaFault) -> Consumer {
        guard let consumer = current else { throw .stale("the consumer of \(topic) is closed") }
        return consumer
    }

    private var current: Consumer? {
        consumer?.owner.check()
        return consumer
    }

    /// The inquiries that others may make of this consumer's client while its own thread polls.
    package var inquiry: GroupInquiry? { consumer.map(GroupInquiry.init) }

    package func subscribe() throws(KafkaFault) { try open().subscribe() }

    package func assign(_ starts: [PartitionOffset]) throws(KafkaFault) { try open().assign(starts) }

    package func unassign() throws(KafkaFault) { try open().unassign() }

    package func assignment() throws(KafkaFault) -> Set<Int32> { Set(try open().assignment()) }

    package func token() throws(KafkaFault) -> any MemberToken { LibraryToken(try open().groupMetadata()) }

    package var isAssignmentLost: Bool { current?.isAssignmentLost ?? true }

    package var isOutdated: Bool { current?.isOutdated ?? false }

    package func explained(_ fault: KafkaFault) -> KafkaFault { current?.explained(fault) ?? fault }

    package var observations: ConsumerObservations { current?.observations ?? lastObservations }

    // MARK: - Events

    package func poll(waiting milliseconds: Int) -> GroupEvent? {
        guard let consumer = current else { return nil }
        var left = milliseconds
        while true {
            if let answer = commits?.nextAnswer(consumer) { return answer }
            // An offset commit's answer comes by a separate queue.
            let slice = commits?.isEmpty == false ? min(left, Self.sliceMilliseconds) : left
            if let event = nextEvent(consumer, slice) { return event }
            left -= slice
            guard left > 0 else { return commits?.nextAnswer(consumer) }
        }
    }

    private static let sliceMilliseconds = 10

    private func nextEvent(_ consumer: Consumer, _ milliseconds: Int) -> GroupEvent? {
        do throws(KafkaFault) {
            let event = try consumer.poll(timeoutMilliseconds: milliseconds)
            if case .message(let message) = event { return record(message) }
            // Drop the last record, which would keep its block's memory.
            last = nil
            if case .notice(let fault) = event { return .fault(consumer.handle.running(fault)) }
            return event.map(GroupEvent.init)
        } catch {
            return .fault(consumer.handle.running(error))
        }
    }

    private func record(_ message: ConsumedMessage) -> GroupEvent {
        defer { last = message }
        return .record(UncopiedRecord(message), bytes: message.byteCount + (last.map(message.headerBytes) ?? 0))
    }

    package func commit(_ offsets: [PartitionOffset]) throws(KafkaFault) -> CommitID {
        let consumer = try open()
        guard let commits else { throw .fatal("out of memory") }
        return try commits.send(offsets, consumer)
    }

    // MARK: - The end

    package func close(limit milliseconds: Int) throws(KafkaFault) {
        guard let consumer = release() else { return }
        try consumer.close(limitMilliseconds: milliseconds)
    }

    package func discard() { release()?.closeAside() }

    /// Nothing of this object uses the client any more.
    private func release() -> Consumer? {
        guard let consumer = current else { return nil }
        lastObservations = consumer.observations
        (self.consumer, commits, last) = (nil, nil, nil)
        return consumer
    }

    deinit { consumer?.closeAside() }
}

extension Consumer {
    fileprivate var observations: ConsumerObservations {
        var observations = ConsumerObservations()
        observations.errors = errorCounts
        observations.connectionFault = connectionFault
        observations.refusals = refusals
        observations.statistics = statistics
        return observations
    }
}

extension GroupEvent {
    fileprivate init(_ event: ConsumerEvent) {
        switch event {
        case .message(let message): self = .record(UncopiedRecord(message), bytes: message.byteCount)
        case .endOfPartition(let end): self = .end(end)
        case .change(.assigned(let partitions)): self = .assigned(partitions)
        case .change(.revoked(let partitions)): self = .revoked(partitions)
        case .change(.lost(let partitions)): self = .lost(partitions)
        case .notice(let fault): self = .fault(fault)
        }
    }
}

/// Asks a group's consumer on any thread while its own thread polls.
///
/// It keeps no client alive but for the time of a question, which goes on where the consumer is closed meanwhile.
package final class GroupInquiry: @unchecked Sendable {
    private weak let consumer: Consumer?

    init(_ consumer: Consumer) { self.consumer = consumer }

    /// Every topic that the consumer may see.
    package func topics(timeoutMilliseconds: Int) throws(KafkaFault) -> [TopicDescription] {
        try open().topics(timeoutMilliseconds: timeoutMilliseconds)
    }

    /// See ``Consumer/committed(_:timeoutMilliseconds:)``.
    package func committed(_ partitions: [Int32], timeoutMilliseconds: Int) throws(KafkaFault) -> [CommittedOffset] {
        try open().committed(partitions, timeoutMilliseconds: timeoutMilliseconds)
    }

    private func open() throws(KafkaFault) -> Consumer {
        guard let consumer else { throw KafkaFault(.state, "the consumer is gone") }
        return consumer
    }
}
