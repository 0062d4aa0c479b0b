package import Kafka
package import KafkaPorts
package import Pipeline
internal import Streams

/// A cluster as the commands on a ledger see it. Each call waits for the brokers, and throws a ``KafkaFault``.
package protocol LedgerCluster: AnyObject {
    var time: WaitingTime { get }
    func partitionCounts() throws(KafkaFault) -> PartitionCounts
    func group(_ id: String) throws(KafkaFault) -> GroupDescription
    func committedOffsets(
        ofGroup group: String,
        topic: String,
        partitions: [Int32]
    ) throws(KafkaFault) -> [CommittedOffset]
    /// The group must have no members.
    func setOffsets(ofGroup group: String, topic: String, _ offsets: [PartitionOffset]) throws(KafkaFault)
    /// The oldest offset, and the next record's: records of open transactions lie before it.
    func watermarks(of topic: String, partitions: [Int32]) throws(KafkaFault) -> [Int32: Watermarks]
    /// See ``LedgerMarks/newest(_:topic:partitions:)``.
    func newestMarks(of ledger: String, partitions: Int32) throws(KafkaFault) -> [Int32: PartitionMark]
    func makeReader(of topic: String) throws(KafkaFault) -> any RecordReading
    /// - Parameter source: the requests' topic.
    func makeProducer(
        _ transactionalID: String,
        of ledger: String,
        source: String
    ) throws(KafkaFault) -> any TransactionProducer
    /// The token of a process outside the group.
    func token(ofGroup group: String) -> any MemberToken
}

/// Brokers, by librdkafka.
final class KafkaCluster: LedgerCluster {
    private static let answerMilliseconds = 10_000

    private let properties: KafkaProperties
    private let admin: Admin
    private var ends: PartitionEnds?

    init(_ properties: KafkaProperties) throws(KafkaFault) {
        try properties.validate()
        (self.properties, admin) = (properties, try Admin(properties))
    }

    var time: WaitingTime { .ofMachine }

    func partitionCounts() throws(KafkaFault) -> PartitionCounts { try PartitionCounts(admin) }

    func group(_ id: String) throws(KafkaFault) -> GroupDescription { try admin.group(id) }

    func committedOffsets(
        ofGroup group: String,
        topic: String,
        partitions: [Int32]
    ) throws(KafkaFault) -> [CommittedOffset] {
        try admin.committedOffsets(ofGroup: group, topic: topic, partitions: partitions)
    }

    func setOffsets(ofGroup group: String, topic: String, _ offsets: [PartitionOffset]) throws(KafkaFault) {
        try admin.setOffsets(ofGroup: group, topic: topic, offsets)
    }

    func watermarks(of topic: String, partitions: [Int32]) throws(KafkaFault) -> [Int32: Watermarks] {
        try currentEnds().watermarks(of: topic, partitions, timeoutMilliseconds: Self.answerMilliseconds)
    }

    /// A client that reads renewed files is a new one.
    private func currentEnds() throws(KafkaFault) -> PartitionEnds {
        if let ends, !ends.isOutdated { return ends }
        let made = try PartitionEnds(properties)
        ends = made
        return made
    }

    func newestMarks(of ledger: String, partitions: Int32) throws(KafkaFault) -> [Int32: PartitionMark] {
        try LedgerMarks.newest(properties, topic: ledger, partitions: partitions)
    }

    func makeReader(of topic: String) throws(KafkaFault) -> any RecordReading {
        try TopicReader(properties, topic: topic)
    }

    func makeProducer(
        _ transactionalID: String,
        of ledger: String,
        source: String
    ) throws(KafkaFault) -> any TransactionProducer {
        let route = OutputRoute(topics: [.ledger: ledger], clock: { WaitingTime.ofMachine.moment })
        return try TransactionClient(properties, transactionalID: transactionalID, source: source, route)
    }

    func token(ofGroup group: String) -> any MemberToken {
        GroupMetadata(withoutMembersOf: group)
    }
}
