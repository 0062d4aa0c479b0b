internal import Crypto
internal import Dispatch
internal import Kafka
package import KafkaPorts
package import Member
internal import Settings
internal import Streams
internal import Threads

/// Makes a member of a worker's settings: librdkafka's clients, and threads in addition to the loop's.
package struct MemberAssembly {
    private let settings: BrokerSettings
    private let ledger: String
    private let wake: @Sendable () -> Void

    /// - Parameter wake: called where a completion has come, on any thread: the member takes it in its next step.
    /// - Throws: a ``KafkaFault`` about the settings; nothing is connected here.
    package init(
        _ settings: BrokerSettings,
        wake: @escaping @Sendable () -> Void
    ) throws(KafkaFault) {
        try settings.validate()
        guard let ledger = settings.topics.outputs[.ledger] else { throw .fatal("no topic is set for the ledger") }
        (self.settings, self.ledger, self.wake) = (settings, ledger, wake)
    }

    package func memberSettings(_ delivery: OutputWriter.Settings.Delivery) throws(KafkaFault) -> MemberSettings {
        let (rights, topics) = (try AccessRights(settings), settings.topics)
        var member = MemberSettings(
            delivery: delivery,
            group: settings.group ?? "",
            stableID: try settings.stableID(),
            requests: topics.requests,
            ledger: ledger,
            makeIdentity: { SecureRandom.bytes(16) }
        )
        (member.partitions, member.standbyLoops) = (settings.partitions, settings.standbyLoops)
        member.countsChanged = { TopicCheck.changed($0, topics, from: $1) }
        member.outputMilliseconds = Int64(try settings.outputMilliseconds())
        member.guardsPositions = settings.guardsPositions
        member.commitsOffsetsAside = settings.commitsOffsetsAside
        member.explain = { rights.explained($0, reading: $1) }
        return member
    }

    /// Each consumer that is made is the one that queries ask from then on.
    package func ports(writer: any WriterHost) throws(KafkaFault) -> MemberPorts {
        let properties = try settings.producerProperties()
        let asker = BrokerAsker((ledger, settings.topics.requests), properties, group: settings.group ?? "")
        let queries = QueryThread(wake: wake) { query throws(KafkaFault) in try asker.answer(query) }
        return MemberPorts(
            makeConsumer: { () throws(KafkaFault) in
                let consumer = try Consumer(settings.consumerProperties(), topic: settings.topics.requests)
                asker.use(consumer.inquiry)
                return consumer
            },
            makeReader: { () throws(KafkaFault) in try TopicReader(properties, topic: ledger) },
            queries: queries,
            writer: writer
        )
    }

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
            case .atLeastOnce: .idempotent(try OutputClient(producers.settings.producerProperties(), producers.route))
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
    fileprivate let settings: BrokerSettings
    fileprivate let route: OutputRoute

    /// - Parameter clock: see ``Moment``.
    package init(_ settings: BrokerSettings, _ clock: @escaping @Sendable () -> Moment) throws(KafkaFault) {
        try settings.validate()
        self.settings = settings
        route = OutputRoute(topics: settings.topics.outputs, clock: clock)
    }

    package func transactional() throws(KafkaFault) -> any TransactionProducer {
        try TransactionClient(
            settings.transactionalProperties(),
            transactionalID: settings.stableID(),
            source: settings.topics.requests,
            route
        )
    }
}
