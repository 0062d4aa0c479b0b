package import KafkaPorts

/// An idempotent producer of units on librdkafka.
package final class LibraryProducer: RecordProducer, OutputClient {
    let route: OutputRoute
    let producer: Producer
    var before = DeliverySummary()

    /// - Throws: a ``KafkaFault`` that names the fault. Nothing is connected yet.
    package init(_ properties: KafkaProperties, _ route: OutputRoute) throws(KafkaFault) {
        self.route = route
        producer = try Producer(properties, trackedTopic: route.trackedTopic)
    }

    package var fatalFault: KafkaFault? { client.fatalFault }

    /// Waits for the records in flight. The fault of a record explains more than the client's fatal fault that follows
    /// it.
    package func flush(limit milliseconds: Int) throws(KafkaFault) -> Bool {
        let hasEnded = client.flushQueue(limit: milliseconds)
        if producer.handle.context.firstFailure == nil, let fatal = fatalFault { throw fatal }
        return hasEnded
    }

    func named(_ fault: KafkaFault) -> KafkaFault { fault }
}
