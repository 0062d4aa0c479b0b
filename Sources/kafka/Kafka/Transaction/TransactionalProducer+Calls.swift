package import KafkaPorts

extension TransactionalProducer {
    /// Takes over the transactional id: aborts what a predecessor left open and fences it. Once, before any other call.
    ///
    /// - Throws: a ``KafkaFault``; while it is retriable the call goes on where it stopped.
    package func initTransactions(timeoutMilliseconds: Int) throws(KafkaFault) {
        try spoiling { () throws(KafkaFault) in try client.initTransactions(limit: timeoutMilliseconds) }
    }

    /// Opens a transaction. Never waits.
    package func begin() throws(KafkaFault) {
        // See TransactionClient.begin().
        if let fatal = fatalFault { throw fatal }
        try spoiling { () throws(KafkaFault) in try client.begin() }
        forgetTransaction()
    }

    /// Puts the next offsets to read into the transaction.
    ///
    /// - Parameters:
    ///   - metadata: taken when the records' partitions were assigned; see ``GroupMetadata``.
    ///   - timeoutMilliseconds: may be exceeded by two seconds. The library would wait for as long as the coordinator
    ///     is absent; if it does, the fault is fatal, and the call is abandoned.
    /// - Throws: a ``KafkaFault``. While it is retriable the offsets are not in the transaction, and commits are
    ///   refused until the same call has succeeded.
    package func sendOffsets(
        _ offsets: [PartitionOffset],
        topic: String,
        _ metadata: GroupMetadata,
        timeoutMilliseconds: Int
    ) throws(KafkaFault) {
        guard !offsets.isEmpty else { return }
        if let fatal = fatalFault { throw fatal }
        let sent = TransactionGuard.Offsets(topic: topic, offsets: offsets)
        transaction.willSend(sent)
        do throws(KafkaFault) {
            try client.sendOffsets(sent, metadata, limit: timeoutMilliseconds)
        } catch {
            transaction.didSend(sent, error)
            throw error.requiresAbort ? spoiled(error) : error
        }
        transaction.didSend(sent, nil)
    }

    /// Waits for every record and makes all of the transaction visible.
    ///
    /// - Throws: a ``KafkaFault``; while it is retriable the outcome is open and the same call asks again. Refused with
    ///   ``KafkaFault/requiresAbort``, whatever the library reports, if a record or the offsets are not in it.
    package func commit(timeoutMilliseconds: Int) throws(KafkaFault) {
        if let obstacle = commitObstacle { throw obstacle }
        try spoiling { () throws(KafkaFault) in try client.commit(limit: timeoutMilliseconds) }
    }

    /// Drops the whole transaction, after letting its records and requests arrive: see ``TransactionGuard/settlement(_:outstanding:_:)``.
    ///
    /// A transaction that is not settled then is not aborted but given up: its producer must be discarded, and the next
    /// owner of the id aborts it.
    ///
    /// - Throws: a ``KafkaFault``; while it is retriable the same call goes on. A fatal one is an ordinary way out.
    package func abort(timeoutMilliseconds: Int) throws(KafkaFault) {
        if let fatal = fatalFault { throw fatal }
        let left = max(1, timeoutMilliseconds - settle(timeoutMilliseconds / 2))
        guard settlement == .settled else {
            let fault = KafkaFault.stale("a request of the transaction is unanswered, or still to be sent")
            client.abandon(fault.with(isFatal: true, requiresAbort: false))
            throw fatalFault ?? fault
        }
        try spoiling { () throws(KafkaFault) in try client.abort(limit: left) }
        forgetTransaction()
    }

    private var settlement: TransactionGuard.Settlement {
        transaction.settlement(producer.summary, outstanding: outstanding, client.unanswered)
    }

    /// Waits for records and requests in flight, as long as any of them arrive. Returns the most milliseconds that it has
    /// taken.
    private func settle(_ timeoutMilliseconds: Int) -> Int {
        var waited = 0
        var idle = 0
        while settlement == .underWay, idle < Self.idleSlices, waited < timeoutMilliseconds {
            let before = outstanding
            // Failed records do not matter here.
            if before > 0 {
                _ = producer.flushQueue(limit: Self.sliceMilliseconds)
            } else {
                producer.poll(timeoutMilliseconds: Self.sliceMilliseconds)
            }
            idle = outstanding < before ? 0 : idle + 1
            waited += Self.sliceMilliseconds
        }
        return waited
    }

    private static let sliceMilliseconds = 50
    private static let idleSlices = 20

    private func spoiling(_ call: () throws(KafkaFault) -> Void) throws(KafkaFault) {
        do throws(KafkaFault) { try call() } catch { throw error.requiresAbort ? spoiled(error) : error }
    }
}
