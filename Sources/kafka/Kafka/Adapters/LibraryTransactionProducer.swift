package import KafkaPorts

/// A transactional producer of outputs on librdkafka. It translates memory, threads and texts, and holds no rule.
package final class LibraryTransactionProducer: TransactionProducer, OutputClient {
    let route: OutputRoute
    var before = DeliverySummary()
    private let transactions: TransactionClient
    private let source: String

    /// - Parameters:
    ///   - transactionalID: stable over restarts, and of one live producer at a time: a newer one fences the older.
    ///   - source: the topic whose offsets are sent.
    /// - Throws: a ``KafkaFault`` that names the fault. Nothing is connected yet.
    package init(
        _ properties: KafkaProperties,
        transactionalID: String,
        source: String,
        _ route: OutputRoute
    ) throws(KafkaFault) {
        (self.route, self.source) = (route, source)
        transactions = try TransactionClient(
            properties,
            transactionalID: transactionalID,
            trackedTopic: route.trackedTopic
        )
    }

    var producer: Producer { transactions.producer }

    private var current: TransactionClient {
        _ = client
        return transactions
    }

    package var fatalFault: KafkaFault? { current.fatalFault }

    package var unanswered: UnansweredRequests { current.unanswered }

    func named(_ fault: KafkaFault) -> KafkaFault { transactions.named(fault) }

    package func initTransactions(limit milliseconds: Int) throws(KafkaFault) {
        try current.initTransactions(limit: milliseconds)
    }

    package func begin() throws(KafkaFault) { try current.begin() }

    package func flush(limit milliseconds: Int) throws(KafkaFault) -> Bool {
        let hasEnded = client.flushQueue(limit: milliseconds)
        if let fatal = fatalFault { throw fatal }
        return hasEnded
    }

    package func sendOffsets(
        _ offsets: [PartitionOffset],
        _ token: any MemberToken,
        _ budget: CallBudget
    ) throws(KafkaFault) {
        guard let token = token as? LibraryToken else { throw .invalid("the membership is not librdkafka's") }
        let now = route.clock()
        let left = budget.left(at: now)
        let sent = TransactionGuard.Offsets(topic: source, offsets: offsets)
        try current.sendOffsets(sent, token.metadata, limit: Int(left)) {
            // A call that nobody cuts short has two seconds more, in which the library ends it by itself.
            let time = route.clock()
            return budget.left(at: time) > 0 || time - now >= left
        }
    }

    package func commit(limit milliseconds: Int) throws(KafkaFault) { try current.commit(limit: milliseconds) }

    package func abort(limit milliseconds: Int) throws(KafkaFault) { try current.abort(limit: milliseconds) }
}

/// A membership as librdkafka keeps it. Made once and never changed: a call of any thread may read it.
package final class LibraryToken: MemberToken, @unchecked Sendable {
    package let metadata: GroupMetadata

    package init(_ metadata: GroupMetadata) { self.metadata = metadata }
}
