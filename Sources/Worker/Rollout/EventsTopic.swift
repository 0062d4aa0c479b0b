internal import Broker
internal import Foundation
internal import Kafka
internal import Pipeline
internal import Settings

/// The events topic from its oldest record to its end at the start: committed events only.
struct EventsTopic {
    private static let lookupMilliseconds = 10_000
    private static let pollMilliseconds = 200
    private static let recordsPerPoll = 10_000
    /// After this long without a record the broker counts as gone: longer than a dead worker's transaction blocks.
    private static let patience = Duration.seconds(75)

    private let properties: KafkaProperties
    private let topic: String

    /// - Throws: ``ConfigurationFault`` where the configuration has no broker that outlives a process.
    init(_ configuration: Configuration) throws(ConfigurationFault) {
        guard !configuration.embeddedBroker else {
            throw ConfigurationFault("worker.json: the embedded broker keeps no events: give --input.")
        }
        guard let topic = configuration.topics.outputs[.events] else {
            throw ConfigurationFault("worker.json: no topic is set for events.")
        }
        self.topic = topic
        properties = KafkaProperties(try configuration.brokerProperties())
    }

    /// - Parameter body: called with each record's value.
    /// - Throws: ``CommandFault``.
    func read(_ body: ([UInt8]?) -> Void) throws {
        do { try readAll(body) } catch let fault as KafkaFault {
            throw CommandFault("cannot read \(topic): \(fault).")
        }
    }

    private func readAll(_ body: ([UInt8]?) -> Void) throws {
        guard let found = try Admin(properties).topics().first(where: { $0.name == topic }), found.partitions > 0 else {
            throw CommandFault("no such topic: \(topic); create it with \(AttestWorker.name) create-topics.")
        }
        let reader = try TopicReader(properties, topic: topic)
        var ends: [Int32: Int64] = [:]
        for partition in 0..<Int32(clamping: found.partitions) {
            let marks = try Self.watermarks(of: partition, reader)
            if marks.low < marks.high { ends[partition] = marks.high }
        }
        // The beginning by its symbol, not its number: retention may delete the oldest records in between.
        try reader.start(ends.keys.sorted().map { PartitionOffset(partition: $0, offset: PartitionOffset.beginning) })
        var positions: [Int32: Int64] = [:]
        var moved = ContinuousClock.now
        while !ends.isEmpty {
            let records = try reader.poll(maxRecords: Self.recordsPerPoll, timeoutMilliseconds: Self.pollMilliseconds)
            for record in records where record.offset < ends[record.partition] ?? 0 { body(record.value) }
            let now = ContinuousClock.now
            for (partition, end) in ends {
                guard let position = reader.position(of: partition) else { continue }
                if positions.updateValue(position, forKey: partition) != position { moved = now }
                if position >= end { ends[partition] = nil }
            }
            guard now - moved < Self.patience else {
                throw CommandFault("\(topic) cannot be read to its end: a transaction is open, or the broker is away.")
            }
        }
    }

    /// Partitions that were just created or moved have no leader for a while.
    private static func watermarks(of partition: Int32, _ reader: TopicReader) throws(KafkaFault) -> Watermarks {
        let deadline = ContinuousClock.now + .milliseconds(lookupMilliseconds)
        while true {
            do throws(KafkaFault) {
                return try reader.watermarks(of: partition, timeoutMilliseconds: lookupMilliseconds)
            } catch {
                guard error.isRetriable, ContinuousClock.now < deadline else { throw error }
                Thread.sleep(forTimeInterval: 0.2)
            }
        }
    }
}
