package import Kafka
package import KafkaPorts
package import Settings

/// Reads partitions of one topic from their beginnings, or other places, to their ends, without a group.
package final class TopicScan {
    /// No partition moved for longer than the scan waits; a transaction may be open there.
    package struct Standstill: Error {
        package let partition: Int32
    }

    private static let roundRecords = 10_000
    private static let waitMilliseconds = 200
    private static let answerMilliseconds = 10_000

    private let reader: any RecordReading
    private let partitions: Range<Int32>
    private let wanted: [Int32]
    private let timeBudget: Duration
    private let doubt: Duration?
    private let time: WaitingTime

    /// - Parameters:
    ///   - reader: of the topic, which has begun nothing yet.
    ///   - partitions: the topic's.
    ///   - chosen: the partitions to read; nil = all of them.
    ///   - starts: where to begin in chosen partitions; at the beginning of the others.
    ///   - timeBudget: after this long without progress the scan gives up.
    ///   - doubt: after this long without progress the broker is asked whether it is there; nil = never.
    package init(
        _ reader: any RecordReading,
        partitions: Int32,
        only chosen: Set<Int32>? = nil,
        from starts: [Int32: Int64] = [:],
        timeBudget: Duration,
        doubt: Duration? = nil,
        on time: WaitingTime = .ofMachine
    ) throws(KafkaFault) {
        self.partitions = 0..<partitions
        (self.reader, self.timeBudget, self.doubt, self.time) = (reader, timeBudget, doubt, time)
        wanted = self.partitions.filter { chosen?.contains($0) ?? true }
        // The beginning by its symbol, not its number: retention may delete the oldest records in between.
        try reader.start(
            wanted.map { PartitionOffset(partition: $0, offset: starts[$0] ?? PartitionOffset.beginning) }
        )
    }

    /// The present ends of all partitions.
    ///
    /// - Parameter chosen: asks for those that are read alone; the others' are 0.
    package func ends(ofChosen chosen: Bool = false) throws(KafkaFault) -> [Watermarks] {
        var ends = [Watermarks](repeating: Watermarks(low: 0, high: 0), count: partitions.count)
        for partition in chosen ? wanted : Array(partitions) { ends[Int(partition)] = try end(partition) }
        return ends
    }

    private func end(_ partition: Int32) throws(KafkaFault) -> Watermarks {
        try BrokerRetry.ask(on: time) { () throws(KafkaFault) in
            try reader.watermarks(of: partition, timeoutMilliseconds: Self.answerMilliseconds)
        }
    }

    /// Reads everything up to these ends, and records that happen to come after them.
    ///
    /// - Throws: a ``KafkaFault``, ``Standstill``, or the error of `body`.
    package func read(upTo ends: [Watermarks], _ body: (TopicRecord) throws -> Void) throws {
        var open = wanted.filter { ends[Int($0)].low < ends[Int($0)].high }
        var places: [Int64] = []
        var (movedAt, askedAt) = (time.elapsed(), time.elapsed())
        while true {
            open.removeAll { place($0) >= ends[Int($0)].high }
            guard let first = open.first else { return }
            let records = try reader.records(most: Self.roundRecords, waiting: Self.waitMilliseconds)
            for record in records { try body(record) }
            let (now, present) = (time.elapsed(), open.map(place))
            if present != places { (movedAt, askedAt) = (now, now) }
            places = present
            if let doubt, now - askedAt >= doubt {
                _ = try end(first)
                askedAt = time.elapsed()
            }
            guard now - movedAt < timeBudget else { throw Standstill(partition: first) }
        }
    }

    private func place(_ partition: Int32) -> Int64 { reader.position(of: partition) ?? -1 }
}

/// How many partitions the broker's topics have, asked once.
package struct PartitionCounts {
    private let counts: [String: Int]

    package init(_ counts: [String: Int]) { self.counts = counts }

    package init(_ admin: Admin, timeoutMilliseconds: Int = 10_000) throws(KafkaFault) {
        let topics = try admin.topics(timeoutMilliseconds: timeoutMilliseconds)
        counts = Dictionary(topics.map { ($0.name, $0.partitions) }) { first, _ in first }
    }

    /// - Throws: ``CommandFault`` where there is no such topic.
    package func count(of topic: String) throws(CommandFault) -> Int32 {
        guard let count = counts[topic].flatMap({ Int32(exactly: $0) }), count > 0 else {
            throw CommandFault("no such topic: \(topic); create it with attest-worker create-topics.")
        }
        return count
    }
}
