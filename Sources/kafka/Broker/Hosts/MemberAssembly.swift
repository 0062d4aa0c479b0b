internal import Kafka
package import KafkaPorts
package import Member
internal import Settings
internal import Streams

/// Makes a member of a worker's settings: librdkafka's clients, and threads in addition to the loop's.
package struct MemberAssembly {
    let settings: BrokerSettings
    private let ledger: String
    let wake: @Sendable () -> Void

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
            ledger: ledger
        )
        member.partitions = settings.partitions
        member.countsChanged = { TopicCheck.changed($0, topics, from: $1) }
        member.outputMilliseconds = Int64(try settings.outputMilliseconds())
        member.guardsPositions = settings.guardsPositions
        member.commitsOffsetsAside = settings.commitsOffsetsAside
        member.explain = { rights.explained($0, reading: $1) }
        return member
    }

    /// Each consumer that is made is the one that queries ask from then on.
    package func ports(writer: any WriterHost) throws(KafkaFault) -> MemberPorts {
        let properties = try settings.readerProperties()
        let asker = BrokerAsker((ledger, settings.topics.requests), properties, group: settings.group ?? "")
        let queries = QueryThread(wake: wake) { query throws(KafkaFault) in try asker.answer(query) }
        return MemberPorts(
            makeConsumer: { () throws(KafkaFault) in
                let properties = try settings.consumerProperties()
                let topic = settings.topics.requests
                let consumer = try LibraryConsumer(properties, topic: topic)
                asker.use(consumer.inquiry)
                return consumer
            },
            makeReader: { () throws(KafkaFault) in
                try TopicReader(settings.readerProperties(), topic: ledger)
            },
            queries: queries,
            writer: writer
        )
    }
}
