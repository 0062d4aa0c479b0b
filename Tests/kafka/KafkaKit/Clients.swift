package import Kafka
package import KafkaPorts
package import Streams
internal import TestKit
internal import Testing

extension Consumer {
    /// Polls until `isDone` returns true. - Returns: false once nothing has come for 30 s.
    package func poll(until isDone: (GroupEvent) throws -> Bool) throws -> Bool {
        var (events, watch) = (0, StandstillWatch<Int>())
        while !watch.isStill(events) {
            guard let event = poll(waiting: 100) else { continue }
            events += 1
            if case .fault(let fault) = event, fault.isFatal { throw fault }
            if try isDone(event) { return true }
        }
        return false
    }

    /// Answers changes until an assignment comes, and takes the group's metadata with it.
    package func metadataOnceAssigned() throws -> GroupMetadata {
        var metadata: GroupMetadata?
        _ = try poll { event in
            if case .assigned = event { metadata = try groupMetadata() }
            try answer(event)
            return metadata != nil
        }
        return try #require(metadata)
    }

    /// Reads a number of records, answering changes of assignment with the committed offsets.
    package func records(_ count: Int) throws -> [InboundRecord] {
        var records: [InboundRecord] = []
        guard count > 0 else { return [] }
        let isDone = try poll { event in
            if case .record(let record, _) = event { records.append(record.take()) }
            try answer(event)
            return records.count >= count
        }
        if !isDone { Issue.record("only \(records.count) of \(count) records came") }
        return records
    }

    /// Answers a change of assignment; other events need no answer.
    private func answer(_ event: GroupEvent) throws {
        switch event {
        case .assigned(let partitions):
            let committed = try committed(partitions, timeoutMilliseconds: .noLimit)
            let starts = committed.map {
                PartitionOffset(partition: $0.partition, offset: $0.offset ?? PartitionOffset.beginning)
            }
            try assign(starts)
        case .revoked, .lost: try unassign()
        case .record, .end, .fault, .committed: break
        }
    }

    package func close() throws(KafkaFault) { try close(limit: .noLimit) }
}

extension Producer {
    /// Queues a record for the fixture's topic.
    package func put(
        _ value: [UInt8]?,
        key: [UInt8]? = nil,
        headers: [RecordHeader] = [],
        to partition: Int32 = 0
    ) throws(KafkaFault) {
        try produce(topic: MockFixture.topic, partition: partition, key: key, value: value, headers: headers)
    }
}

/// A transaction's calls as tests make them, without a writer's rules.
extension TransactionClient {
    package func flush(timeoutMilliseconds: Int) throws(KafkaFault) {
        try producer.flush(timeoutMilliseconds: timeoutMilliseconds)
    }
}
