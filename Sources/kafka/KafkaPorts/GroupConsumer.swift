package import Streams

/// A member's identity in its group at one moment (group, generation, member id, static instance id): what a commit is
/// fenced by. Opaque to the member, which keeps it with every batch polled under it.
package protocol MemberToken: AnyObject, Sendable {}

/// Distinguishes the offset commits of one consumer.
package struct CommitID: Hashable, Sendable {
    package let number: Int

    package init(_ number: Int) { self.number = number }
}

/// The result of one poll of a consumer.
package enum GroupEvent: Sendable {
    /// `bytes` is about what the record holds in memory.
    case record(UncopiedRecord, bytes: Int)
    /// Nothing but markers lies before this offset; the partition ends there.
    case end(PartitionOffset)
    /// Answered with ``GroupConsumer/assign(_:)``.
    case assigned([Int32])
    /// Revoked in order; answered with ``GroupConsumer/unassign()``, as is ``lost(_:)``.
    case revoked([Int32])
    /// Gone already: another member may own them.
    case lost([Int32])
    /// A fault of the client, or of a partition.
    case fault(KafkaFault)
    /// The answer to a ``GroupConsumer/commit(_:)``; nil = the offsets are committed.
    case committed(CommitID, KafkaFault?)
}

/// Why a partition was not sought.
package enum SeekFault: Equatable, Sendable {
    /// The library has not started the partition yet, or has stopped it for good (`_STATE`, `_PREV_IN_PROGRESS`).
    case notStarted
    /// A later step of the library's own was processed first (`_OUTDATED`).
    case overtaken
    /// No answer of the library's thread in time; the seek may still be done.
    case timedOut
    /// Another fault, such as a partition that the topic does not have any more.
    case unknown(KafkaFault)
}

/// The observations of a consumer in addition to its events.
package struct ConsumerObservations: Sendable {
    /// Errors that the client has reported so far, by librdkafka's names.
    package var errors: [String: Int] = [:]
    /// The last connection error, of a connection that may have come back since.
    package var connectionFault: KafkaFault?
    /// Connections so far that were refused for what only a new client would change.
    package var refusals = 0
    /// The library's last statistics, JSON; empty = none came yet.
    package var statistics: [UInt8] = []

    package init() {}
}

/// One membership of a consumer group, reading one topic. On the loop's queue.
///
/// No call waits for a broker. Calls marked "library" wait for the library's own thread: microseconds, or `limit`. That a
/// call of pause or resume gives no fault does not mean that it was done: the library drops a step of a partition that a
/// later one has overtaken, and says nothing.
package protocol GroupConsumer: AnyObject {
    /// Joins the group; the assignment comes as an event.
    func subscribe() throws(KafkaFault)
    /// The next event; waits at most so many milliseconds for it. Faults are events.
    func poll(waiting milliseconds: Int) -> GroupEvent?
    /// Library. Begins to read partitions (``PartitionOffset/beginning``: the oldest). Never answers a revocation.
    func assign(_ starts: [PartitionOffset]) throws(KafkaFault)
    /// Library. Gives every partition back.
    func unassign() throws(KafkaFault)
    /// Library. The partitions that the library has, whatever was asked of it.
    func assignment() throws(KafkaFault) -> Set<Int32>
    /// Library. Records fetched before are dropped, and fetched again on a resume.
    func pause(_ partitions: [Int32]) -> [Int32: KafkaFault]
    /// Library.
    func resume(_ partitions: [Int32]) -> [Int32: KafkaFault]
    /// Library. A partition without a fault delivers nothing from before the seek any more.
    func seek(_ starts: [PartitionOffset], limit milliseconds: Int) -> [Int32: SeekFault]
    /// Library. Makes the threads of the partitions' leaders look for something to fetch; they may sleep for a second.
    func wake(_ partitions: [Int32], limit milliseconds: Int)
    /// Commits the next offsets to read. Returns at once; ``GroupEvent/committed(_:_:)`` follows, or never does.
    func commit(_ offsets: [PartitionOffset]) throws(KafkaFault) -> CommitID
    /// Whether a commit has no answer yet: the library starts no partition meanwhile.
    var hasOpenCommit: Bool { get }
    /// Library. - Throws: a ``KafkaFault`` while the client is not a member of the group.
    func token() throws(KafkaFault) -> any MemberToken
    /// Whether the group has moved on: true before the event comes.
    var isAssignmentLost: Bool { get }
    var observations: ConsumerObservations { get }
    /// Whether files that the client has read, such as certificates, were renewed since.
    var isOutdated: Bool { get }
    /// A fault of a query with the cause that this client knows of.
    func explained(_ fault: KafkaFault) -> KafkaFault
    /// Leaves the group (a static member stays in it); the client ends in the background.
    func close(limit milliseconds: Int) throws(KafkaFault)
    /// Gives the client up: it ends in the background, and nobody waits for that.
    func discard()
}

extension GroupConsumer {
    package var isOutdated: Bool { false }
}
