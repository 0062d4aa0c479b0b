package import KafkaPorts
package import Streams

/// A producer whose records become visible together with the offsets of their sources, or not at all.
///
/// Call ``initTransactions(timeoutMilliseconds:)`` once, then repeat ``begin()``, records, offsets, and
/// ``commit(timeoutMilliseconds:)`` or ``abort(timeoutMilliseconds:)``.
///
/// Test a fault that a call throws in this order: ``KafkaFault/isFatal`` first (only a new producer with the same id
/// helps; that is an ordinary way out), then ``KafkaFault/requiresAbort``, then ``KafkaFault/isRetriable`` (the same
/// call, the same arguments); treat any other fault as fatal.
package final class TransactionalProducer {
    let client: TransactionClient
    var transaction = TransactionGuard()

    /// - Parameters:
    ///   - properties: librdkafka's settings; those of consumers are left out.
    ///   - transactionalID: stable over restarts, and of one live producer at a time: a newer one fences the older.
    /// - Throws: a ``KafkaFault`` that names the fault. Nothing is connected yet.
    package init(_ properties: KafkaProperties, transactionalID: String) throws(KafkaFault) {
        client = try TransactionClient(properties, transactionalID: transactionalID)
    }

    /// The transaction's life if no property sets it: long enough for a partition's leader to change. The successor of
    /// a stable id aborts an orphaned transaction anyway.
    package static let defaultTimeoutMilliseconds = 30_000

    package var transactionalID: String { client.transactionalID }

    var producer: Producer { client.producer }

    /// The fault after which only a new producer helps, if there is one.
    package var fatalFault: KafkaFault? { client.fatalFault }

    /// Why ``commit(timeoutMilliseconds:)`` would refuse the open transaction, as far as this object knows.
    var commitObstacle: KafkaFault? { transaction.commitObstacle(producer.summary, fatal: fatalFault) }

    /// See ``UnansweredRequests/mayHaveRepeats``.
    package var mayHaveRepeats: Bool { client.unanswered.mayHaveRepeats }

    /// Records queued or in flight.
    var outstanding: Int { producer.outstanding }

    /// The number of partitions, from the broker the first time and remembered from then on.
    package func partitionCount(of topic: String, timeoutMilliseconds: Int = 10_000) throws(KafkaFault) -> Int32 {
        try producer.partitionCount(of: topic, timeoutMilliseconds: timeoutMilliseconds)
    }

    // MARK: - Records

    /// Queues one record; see ``Producer/produce(topic:partition:key:value:headers:budgetMilliseconds:)``.
    ///
    /// - Throws: a ``KafkaFault``. Unless it ``KafkaFault/isQueueFull`` (the record may be tried again) the transaction
    ///   can only be aborted; the library itself does not enforce that.
    package func produce(
        topic: String,
        partition: Int32,
        key: [UInt8]?,
        value: [UInt8]?,
        headers: [RecordHeader] = [],
        budgetMilliseconds: Int = 60_000
    ) throws(KafkaFault) {
        if let abandonment = client.abandonment { throw abandonment }
        do throws(KafkaFault) {
            try producer.produce(
                topic: topic,
                partition: partition,
                key: key,
                value: value,
                headers: headers,
                budgetMilliseconds: budgetMilliseconds
            )
        } catch {
            throw error.isQueueFull ? error : spoiled(client.named(error))
        }
    }

    /// Waits until every queued record is acknowledged or failed; see ``Producer/flush(timeoutMilliseconds:)``.
    ///
    /// - Throws: a ``KafkaFault``, retriable where records are still in flight.
    package func flush(timeoutMilliseconds: Int) throws(KafkaFault) {
        if let abandonment = client.abandonment { throw abandonment }
        do throws(KafkaFault) { try producer.flush(timeoutMilliseconds: timeoutMilliseconds) } catch {
            guard error.isTimeout, transaction.lostRecord(producer.summary) == nil else {
                throw spoiled(client.named(error))
            }
            // Records still in flight do no harm: the commit waits for them.
            throw error.with(isFatal: false, requiresAbort: false)
        }
    }

    /// Marks the transaction as one that cannot be committed, and returns the fault that says so.
    func spoiled(_ fault: KafkaFault) -> KafkaFault { fatalFault ?? transaction.spoil(fault) }

    /// Forgets the previous transaction, for a new one or none.
    func forgetTransaction() {
        transaction.begin(producer.summary)
        producer.forgetTransaction()
    }
}
