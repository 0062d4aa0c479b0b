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

    /// The fault of a record says more than what it has made of the client.
    package func flush(limit milliseconds: Int) throws(KafkaFault) -> Bool {
        let hasEnded = client.flushQueue(limit: milliseconds)
        if producer.handle.context.firstFailure == nil, let fatal = fatalFault { throw fatal }
        return hasEnded
    }

    func named(_ fault: KafkaFault) -> KafkaFault { fault }
}
