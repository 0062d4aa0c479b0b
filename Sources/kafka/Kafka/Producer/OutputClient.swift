package import KafkaPorts
package import Streams
internal import Threads

/// The topics of an output's records, and the clock of their client's waits.
package struct OutputRoute: Sendable {
    package var topics: [OutputTopic: String]
    /// Read by calls that share their time among several waits.
    package var clock: @Sendable () -> Moment

    package init(topics: [OutputTopic: String], clock: @escaping @Sendable () -> Moment) {
        (self.topics, self.clock) = (topics, clock)
    }

    /// No outputs, and calls that have all of their time.
    package static let none = OutputRoute(topics: [:]) { Moment(milliseconds: 0) }
}

/// An idempotent producer of outputs on librdkafka. It translates memory, threads and texts, and holds no rule.
package class OutputClient: RecordProducer {
    let route: OutputRoute
    package let producer: Producer
    /// The topics of records so far, by their stream's place.
    private var targets = [Producer.Target?](repeating: nil, count: OutputTopic.allCases.count)
    /// The sums when they were last forgotten.
    private var before = DeliverySummary()

    /// - Throws: a ``KafkaFault`` that names the fault. Nothing is connected yet.
    package convenience init(_ properties: KafkaProperties, _ route: OutputRoute) throws(KafkaFault) {
        self.init(try Producer(properties, trackedTopic: route.topics[.ledger]), route)
    }

    init(_ producer: Producer, _ route: OutputRoute) { (self.producer, self.route) = (producer, route) }

    /// The client, for its owner.
    var client: Producer {
        producer.owner.check()
        return producer
    }

    /// A fault with what the client knows of its cause.
    func named(_ fault: KafkaFault) -> KafkaFault { fault }

    package func know(_ counts: [String: Int32]) { client.know(counts) }

    /// A share of the time for each topic, and what one leaves for those after it.
    package func connect(limit milliseconds: Int) {
        let end = route.clock() + Int64(milliseconds)
        let topics = route.topics.values.sorted()
        for (index, topic) in topics.enumerated() {
            let left = Int(end - route.clock())
            guard left > 0 else { return }
            client.connect(to: [topic], timeoutMilliseconds: max(1, left / (topics.count - index)))
        }
    }

    package func produce(_ records: ArraySlice<OutboundRecord>) throws(KafkaFault) -> Int {
        let client = client
        for (count, record) in records.enumerated() {
            do throws(KafkaFault) {
                let target = try target(record.stream)
                try client.produce(to: target, record.partition, record.key, record.value, HeaderList(of: record))
            } catch {
                guard error.isQueueFull else { throw named(error) }
                return count
            }
        }
        return records.count
    }

    private func target(_ stream: OutputTopic) throws(KafkaFault) -> Producer.Target {
        if let known = targets[stream.place] { return known }
        guard let topic = route.topics[stream] else { throw .fatal("no topic is set for \(stream.rawValue)") }
        let target = try client.target(topic)
        targets[stream.place] = target
        return target
    }

    /// Waits for the records in flight. The fault of a record explains more than the client's fatal fault that follows
    /// it.
    package func flush(limit milliseconds: Int) throws(KafkaFault) -> Bool {
        let hasEnded = client.flushQueue(limit: milliseconds)
        if producer.handle.context.deliveries.firstFault == nil, let fatal = fatalFault { throw fatal }
        return hasEnded
    }

    package func serve(limit milliseconds: Int) { client.poll(timeoutMilliseconds: milliseconds) }

    package var deliveries: DeliverySummary {
        var summary = client.summary
        summary.acknowledged -= before.acknowledged
        summary.withoutOffset -= before.withoutOffset
        summary.failed -= before.failed
        summary.unsent -= before.unsent
        summary.firstFault = summary.firstFault.map { named(producer.handle.explained($0)) }
        return summary
    }

    package func forgetDeliveries() {
        // Reports that came before count before.
        client.poll(timeoutMilliseconds: 0)
        producer.forgetTransaction()
        before = producer.summary
    }

    package var outstanding: Int { client.outstanding }

    package var fatalFault: KafkaFault? { client.fatalFault }

    package var isOutdated: Bool { client.isOutdated }

    package func explained(_ fault: KafkaFault) -> KafkaFault {
        client.poll(timeoutMilliseconds: 0)
        return producer.handle.explained(fault)
    }

    package func discard() { client.purge() }
}
