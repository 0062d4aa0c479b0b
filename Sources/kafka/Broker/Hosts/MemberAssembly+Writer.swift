internal import Dispatch
internal import Kafka
package import KafkaPorts
package import Member
internal import Settings
internal import Threads

extension MemberAssembly {
    /// - Parameter clock: see ``Moment``.
    package func writer(
        _ delivery: OutputWriter.Settings.Delivery,
        clock: @escaping @Sendable () -> Moment
    ) throws(KafkaFault) -> WriterThread {
        let queue = DispatchQueue(owner: "writer", qos: .userInitiated)
        let producers = try OutputProducers(settings, clock)
        let settings = try writerSettings(delivery)
        return WriterThread(settings, on: queue, clock: clock, wake: wake) { () throws(KafkaFault) in
            switch delivery {
            case .transaction: .transactional(try producers.transactional())
            case .atLeastOnce: .idempotent(try producers.idempotent())
            }
        }
    }

    func writerSettings(_ delivery: OutputWriter.Settings.Delivery) throws(KafkaFault) -> OutputWriter.Settings {
        let rights = try AccessRights(settings)
        var writer = OutputWriter.Settings(
            delivery: delivery,
            transactionalID: try settings.stableID(),
            isStaticMember: settings.membership == .static,
            explain: { rights.explained($0) }
        )
        writer.takeOverMilliseconds = Int64(settings.prepareMilliseconds)
        writer.abortMilliseconds = Int64(settings.abortMilliseconds)
        writer.commitsOffsetsAside = settings.commitsOffsetsAside
        return writer
    }
}

/// Makes the producers of a worker's outputs.
package struct OutputProducers: Sendable {
    private let settings: BrokerSettings
    private let route: OutputRoute

    /// - Parameter clock: see ``Moment``.
    package init(_ settings: BrokerSettings, _ clock: @escaping @Sendable () -> Moment) throws(KafkaFault) {
        try settings.validate()
        self.settings = settings
        route = OutputRoute(topics: settings.topics.outputs, clock: clock)
    }

    package func transactional() throws(KafkaFault) -> any TransactionProducer {
        try LibraryTransactionProducer(
            settings.transactionalProperties(),
            transactionalID: settings.stableID(),
            source: settings.topics.requests,
            route
        )
    }

    package func idempotent() throws(KafkaFault) -> any RecordProducer {
        try LibraryProducer(settings.producerProperties(), route)
    }
}
