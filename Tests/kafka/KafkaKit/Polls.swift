package import Kafka
internal import KafkaPorts
internal import TestKit
internal import Testing

extension Consumer {
    /// Polls until `isDone` returns true. - Returns: false once nothing has come for 30 s.
    package func poll(until isDone: (ConsumerEvent) throws -> Bool) throws -> Bool {
        var (events, watch) = (0, StandstillWatch<Int>())
        while !watch.isStill(events) {
            guard let event = try poll(timeoutMilliseconds: 100) else { continue }
            events += 1
            if try isDone(event) { return true }
        }
        return false
    }

    /// Answers changes until an assignment comes, and takes the group's metadata with it.
    package func metadataOnceAssigned() throws -> GroupMetadata {
        var metadata: GroupMetadata?
        _ = try poll { event in
            guard case .change(let change) = event else { return false }
            if case .assigned = change { metadata = try groupMetadata() }
            try answer(change)
            return metadata != nil
        }
        return try #require(metadata)
    }

    /// Reads a number of records, answering changes of assignment with the committed offsets.
    package func records(_ count: Int) throws -> [KafkaRecord] {
        var records: [KafkaRecord] = []
        guard count > 0 else { return [] }
        let isDone = try poll { event in
            switch event {
            case .message(let message): records.append(message.take())
            case .change(let change): try answer(change)
            case .endOfPartition, .notice: break
            }
            return records.count >= count
        }
        if !isDone { Issue.record("only \(records.count) of \(count) records came") }
        return records
    }

    package func answer(_ change: GroupChange) throws {
        switch change {
        case .assigned(let partitions):
            let committed = try committed(partitions, timeoutMilliseconds: .noLimit)
            let starts = committed.map {
                PartitionOffset(partition: $0.partition, offset: $0.offset ?? PartitionOffset.beginning)
            }
            try assign(starts)
        case .revoked, .lost:
            try unassign()
        }
    }
}
