internal import AppCheck
package import Broker
package import Kafka
package import KafkaPorts
package import Pipeline
package import Settings
internal import Streams

/// A simulated cluster as the commands on ledgers see it, with the faults of the command's process.
package final class SimulatedCluster: LedgerCluster {
    private let process: SimulatedProcess
    private let topics: TopicNames
    package let time: WaitingTime

    /// - Parameter time: lets the others work while the command waits.
    init(_ process: SimulatedProcess, _ topics: TopicNames, _ time: WaitingTime) {
        (self.process, self.topics, self.time) = (process, topics, time)
    }

    private var broker: SimulatedBroker { process.broker }

    private func ask() throws(KafkaFault) {
        guard process.enter(mayWait: true) else { throw .ofDeadProcess }
        guard !process.strikes(.retriable, process.chances.retriable) else {
            throw KafkaFault(.transport, "the connection broke")
        }
    }

    package func partitionCounts() throws(KafkaFault) -> PartitionCounts {
        try ask()
        let count = broker.shownPartitionCount
        return PartitionCounts(Dictionary(uniqueKeysWithValues: topics.all.map { ($0, count) }))
    }

    package func group(_ id: String) throws(KafkaFault) -> GroupDescription {
        try ask()
        let members = broker.group.names.count
        return GroupDescription(state: members == 0 ? "Empty" : "Stable", members: members)
    }

    package func committedOffsets(
        ofGroup group: String,
        topic: String,
        partitions: [Int32]
    ) throws(KafkaFault) -> [CommittedOffset] {
        try ask()
        guard broker.stableOffsets(partitions) != nil else {
            throw KafkaFault(.unstableOffsetCommit, "a transaction holds the offsets back")
        }
        return partitions.map {
            let metadata = broker.ownOffsets.contains($0) ? PartitionPositions.metadata : []
            return CommittedOffset(partition: $0, offset: broker.committed[$0], metadata: metadata)
        }
    }

    package func setOffsets(
        ofGroup group: String,
        topic: String,
        _ offsets: [PartitionOffset]
    ) throws(KafkaFault) {
        try ask()
        guard broker.group.names.isEmpty else { throw KafkaFault(.unknownMemberId, "the group has members") }
        for offset in offsets { broker.setOffset(offset.offset, of: offset.partition) }
    }

    package func watermarks(of topic: String, partitions: [Int32]) throws(KafkaFault) -> [Int32: Watermarks] {
        try ask()
        guard topic == topics.requests else { return broker.ledgerEnds(partitions) }
        return Dictionary(
            uniqueKeysWithValues: partitions.map { partition in
                let ends = broker.requestEnds(partition)
                return (partition, Watermarks(low: ends.low, high: ends.high))
            }
        )
    }

    package func newestMarks(of ledger: String, partitions: Int32) throws(KafkaFault) -> [Int32: PartitionMark] {
        try ask()
        let marks = (0..<partitions).compactMap { partition in broker.newestMark(partition).map { (partition, $0) } }
        return Dictionary(uniqueKeysWithValues: marks)
    }

    /// Only a ledger is read: who stops a fleet in order leaves no request unread.
    package func makeReader(of topic: String) throws(KafkaFault) -> any RecordReading {
        guard topic == topics.outputs[.ledger] else { throw .fatal("\(topic) is read") }
        return try process.recordReader(of: .ledger)
    }

    package func makeProducer(
        _ transactionalID: String,
        of ledger: String,
        source: String
    ) throws(KafkaFault) -> any TransactionProducer {
        try process.transactions(transactionalID)
    }

    package func token(ofGroup group: String) -> any MemberToken { SimulatedToken.ofNobody }
}

extension SimulatedBroker {
    func ledgerEnds(_ partitions: [Int32]) -> [Int32: Watermarks] {
        let ends = partitions.map { ($0, Watermarks(low: 0, high: Int64(log(.ledger, $0).highWatermark))) }
        return Dictionary(uniqueKeysWithValues: ends)
    }
}

extension SimulatedFleet {
    /// A command's way to a cluster: another fleet's, perhaps. While a call waits, the others work.
    package func access(
        _ configuration: Configuration,
        to broker: SimulatedBroker,
        meanwhile: @escaping () -> Void = {}
    ) -> LedgerAccess {
        let process = command("operator", of: broker, meanwhile: meanwhile)
        let time = waitingTime { process.wait?(200) }
        let cluster = SimulatedCluster(process, configuration.topics, time)
        let properties = KafkaProperties([("group.id", broker.groupName)])
        return LedgerAccess(configuration, properties, cluster)
    }

    /// The time of a process that waits in this world.
    func waitingTime(_ pause: @escaping () -> Void) -> WaitingTime {
        // Of a wait in which it is not asked, a process knows nothing.
        var (last, passed) = (broker.now, Int64(0))
        return WaitingTime(
            elapsed: { [broker] in
                passed += min(broker.now - last, 5_000)
                last = broker.now
                return .milliseconds(passed)
            },
            pause: pause
        )
    }
}
