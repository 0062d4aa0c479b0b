package import KafkaPorts

/// A place in a consumer group that outlives its clients: a member that the broker takes for another process with its
/// name, or whose certificate files have changed, goes on with a new client.
package struct GroupReader {
    package private(set) var consumer: any GroupConsumer
    private let makeConsumer: () throws(KafkaFault) -> any GroupConsumer
    private var fences = FenceCounter.ofMember
    /// The error counts of clients that were replaced.
    private(set) var pastErrors: [String: Int] = [:]

    package init(_ makeConsumer: @escaping () throws(KafkaFault) -> any GroupConsumer) throws(KafkaFault) {
        self.makeConsumer = makeConsumer
        consumer = try makeConsumer()
    }

    /// Replaces a client that is fenced: after a join request that was answered too late it is useless, and the new one
    /// has to join.
    ///
    /// - Returns: false where another process has the member's name.
    /// - Throws: a ``KafkaFault`` where no client can be made.
    package mutating func replaceFenced(at now: Moment) throws(KafkaFault) -> Bool {
        guard fences.note(at: now) else { return false }
        try replace()
        return true
    }

    /// Replaces the client; nobody waits for the old one's end. Its partitions are lost, and the new one has to join.
    ///
    /// - Throws: a ``KafkaFault`` where no client can be made: the old one stays.
    package mutating func replace() throws(KafkaFault) {
        let fresh = try makeConsumer()
        pastErrors.merge(consumer.observations.errors, uniquingKeysWith: +)
        consumer.discard()
        consumer = fresh
    }
}

extension KafkaFault {
    /// A fence that comes again and again.
    ///
    /// - Parameters:
    ///   - member: what the other process is, too.
    ///   - remedy: whose instances need other names.
    package func ofNamesake(_ member: String, _ remedy: String) -> KafkaFault {
        with(message: "another process is \(member) (\(message)): give every instance of \(remedy) with --instance")
    }
}
