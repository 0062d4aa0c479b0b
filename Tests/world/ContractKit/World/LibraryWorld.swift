package import Broker
package import BrokerKit
internal import Kafka
internal import KafkaKit
package import KafkaPorts
internal import Settings
internal import Streams
internal import TestKit

/// librdkafka on brokers.
package final class LibraryWorld: ContractWorld {
    private let settings: BrokerSettings
    package let partitions: Int32
    package let hasTransactions: Bool
    private let harm: (WorldFault) throws -> Void
    private let stopwatch = Stopwatch()
    private var publisher: Producer?

    /// - Parameter harm: causes a fault at the brokers.
    package init(
        _ settings: BrokerSettings,
        partitions: Int32,
        hasTransactions: Bool = true,
        _ harm: @escaping (WorldFault) throws -> Void
    ) {
        (self.settings, self.partitions) = (settings, partitions)
        (self.hasTransactions, self.harm) = (hasTransactions, harm)
    }

    package func cause(_ fault: WorldFault) throws { try harm(fault) }

    private func named(_ name: String) -> BrokerSettings {
        var settings = settings
        settings.instanceName = name
        return settings
    }

    package func process(_ name: String, isStatic: Bool) throws -> MemberPorts {
        var settings = named(name)
        settings.membership = isStatic ? .static : .dynamic
        return try MemberAssembly(settings, wake: {}).ports(writer: NoWriter())
    }

    package func transactionalID(_ name: String) throws -> String { try named(name).stableID() }

    package func producer(_ name: String, _ more: ProducerSettings) throws -> any TransactionProducer {
        var settings = named(name)
        if let queue = more.queue { settings.properties.append(("queue.buffering.max.messages", String(queue))) }
        if more.isHasty { settings.properties.append(("transaction.timeout.ms", "1000")) }
        return try OutputProducers(settings, { [stopwatch] in stopwatch.moment }).transactional()
    }

    package func member(_ name: String, _ delivery: MemberDelivery, outputMilliseconds: Int) throws -> MemberDriver {
        var settings = named(name)
        settings.commitMilliseconds = outputMilliseconds
        (settings.guardsPositions, settings.commitsOffsetsAside) = (hasTransactions, !hasTransactions)
        return try MemberDriver(delivery, settings)
    }

    package func publish(_ count: Int, to partition: Int32, of topic: ContractTopic) throws {
        let publisher = try publisher ?? Producer(KafkaProperties(settings.properties))
        self.publisher = publisher
        let name = topic == .requests ? settings.topics.requests : settings.topics.outputs[.ledger]
        for number in 0..<count {
            try publisher.produce(
                topic: name.orThrow("no ledger"),
                partition: partition,
                key: bytes("\(number)"),
                value: bytes("\(number)")
            )
        }
        try publisher.flush(timeoutMilliseconds: .noLimit)
    }

    package func until(_ what: String, progress: () -> Int, _ condition: () throws -> Bool) throws {
        var watch = StandstillWatch<Int>()
        while try !condition() {
            if watch.isStill(progress()) { throw Standstill(what) }
            pause(milliseconds: 1)
        }
    }

    package var now: Moment { stopwatch.moment }

    /// The library leaves the group by itself.
    package var pollLimit: Int64 {
        3_000 + (KafkaProperties(settings.properties)["max.poll.interval.ms"].flatMap { Int64($0) } ?? 60_000)
    }

    package func hasGroup() throws -> Bool {
        let properties = KafkaProperties(settings.properties)
        return try Admin(properties).group(properties["group.id"] ?? "").state != "Dead"
    }
}

extension Stopwatch {
    fileprivate var moment: Moment { Moment(milliseconds: Int64(elapsed / .milliseconds(1))) }
}

/// Scripts call their producers themselves.
private final class NoWriter: WriterHost {
    func submit(_ job: WriterJob) {}
    func nextOutcome() -> WriterOutcome? { nil }
}
