internal import CRdkafka
package import KafkaPorts

extension TransactionalProducer {
    /// Takes over the transactional id: aborts what a predecessor left open and fences it. Once, before any other call.
    ///
    /// - Throws: a ``KafkaFault``; while it is retriable the call goes on where it stopped.
    package func initTransactions(timeoutMilliseconds: Int) throws(KafkaFault) {
        let timeout = patience(timeoutMilliseconds)
        // The library waits on this thread, and no longer than `timeout`.
        let error = unsafe rd_kafka_init_transactions(handle.pointer, timeout)
        try unsafe check(error, "taking over transactional id \(transactionalID)")
    }

    /// Opens a transaction. Never waits.
    package func begin() throws(KafkaFault) {
        // The library may hang when a transaction is begun after a fatal error (#4420).
        if let fatal = fatalFault { throw fatal }
        let error = unsafe rd_kafka_begin_transaction(handle.pointer)
        try unsafe check(error, "beginning a transaction")
        handle.serve()
        forgetTransaction()
    }

    /// Puts the next offsets to read into the transaction.
    ///
    /// - Parameters:
    ///   - metadata: taken when the records' partitions were assigned; see ``GroupMetadata``.
    ///   - timeoutMilliseconds: may be exceeded by two seconds. The library would wait for as long as the coordinator
    ///     is absent; if it does, the fault is fatal, and the call is abandoned.
    ///   - goesOn: asked twice a second during the call; false abandons it in the same way.
    /// - Throws: a ``KafkaFault``. While it is retriable the offsets are not in the transaction, and commits are
    ///   refused until the same call has succeeded.
    package func sendOffsets(
        _ offsets: [PartitionOffset],
        topic: String,
        _ metadata: GroupMetadata,
        timeoutMilliseconds: Int,
        goesOn: () -> Bool = { true }
    ) throws(KafkaFault) {
        guard !offsets.isEmpty else { return }
        if let fatal = fatalFault { throw fatal }
        let sent = TransactionOffsets(topic: topic, offsets: offsets)
        noteOffsets(sent, wereSent: false)
        let (handle, timeout) = (handle, patience(timeoutMilliseconds))
        let action = "sending offsets of \(topic)"
        hasOpenOffsets = true
        let error = unsafe try call(action, timeoutMilliseconds: timeoutMilliseconds, goesOn: goesOn) {
            let list = TopicPartitionList(topic: topic, offsets: offsets)
            // The library copies the list and the metadata. The client lives until the call has returned.
            return unsafe list.withPointer { list in
                unsafe metadata.withPointer {
                    unsafe rd_kafka_send_offsets_to_transaction(handle.pointer, list, $0, timeout)
                }
            }
        }
        do throws(KafkaFault) {
            try unsafe check(error, action)
            hasOpenOffsets = false
        } catch {
            // A refusal is final; what may be tried again, the library may be trying still.
            hasOpenOffsets = error.isRetriable
            throw error
        }
        noteOffsets(sent, wereSent: true)
    }

    /// Waits for every record and makes all of the transaction visible.
    ///
    /// - Throws: a ``KafkaFault``; while it is retriable the outcome is open and the same call asks again. Refused with
    ///   ``KafkaFault/requiresAbort``, whatever the library reports, if a record or the offsets are not in it.
    package func commit(timeoutMilliseconds: Int) throws(KafkaFault) {
        if let obstacle = commitObstacle { throw obstacle }
        let timeout = patience(timeoutMilliseconds)
        // Delivery callbacks run inside this call, on this thread.
        let error = unsafe rd_kafka_commit_transaction(handle.pointer, timeout)
        try unsafe check(error, "committing a transaction")
    }

    /// Drops the whole transaction, after letting its records and requests arrive: an abort that overtakes them is fatal to the
    /// producer (the broker does not know yet that a transaction has begun).
    ///
    /// A transaction that is not settled then is not aborted but given up: its producer must be discarded, and the next
    /// owner of the id aborts it. If a request that adds to the transaction ends after the abort, even because the
    /// client is closed, the library (to 2.15.0) fails an assertion and kills the process (`rk->rk_eos.txn_req_cnt > 0`).
    ///
    /// - Throws: a ``KafkaFault``; while it is retriable the same call goes on. A fatal one is an ordinary way out.
    ///
    /// - Parameter serve: called a few times a second during the call.
    package func abort(timeoutMilliseconds: Int, serve: () -> Void = {}) throws(KafkaFault) {
        if let fatal = fatalFault { throw fatal }
        var left = max(1, timeoutMilliseconds - settle(timeoutMilliseconds / 2, serve))
        guard isSettled else {
            let fault = KafkaFault.stale("a request of the transaction is unanswered, or still to be sent")
            throw abandoned(fault.judged(isFatal: true, requiresAbort: false))
        }
        while left > 0 {
            let slice = min(left, Self.serveMilliseconds)
            left -= slice
            // Delivery callbacks run inside this call, on this thread.
            let error = unsafe rd_kafka_abort_transaction(handle.pointer, patience(slice))
            do throws(KafkaFault) {
                try unsafe check(error, "aborting a transaction")
                return forgetTransaction()
            } catch {
                guard error.isRetriable, !error.isFatal, !error.requiresAbort, left > 0 else { throw error }
                serve()
            }
        }
    }

    /// Waits for records and requests in flight, as long as any of them arrive. Returns the most milliseconds that it has
    /// taken.
    private func settle(_ timeoutMilliseconds: Int, _ serve: () -> Void) -> Int {
        var waited = 0
        var idle = 0
        while outstanding > 0 || hasUnansweredRequest, idle < Self.idleSlices, waited < timeoutMilliseconds {
            let before = outstanding
            if before > 0 {
                // Failed records do not matter here; callbacks run inside this call.
                _ = unsafe rd_kafka_flush(handle.pointer, clampedMilliseconds(Self.sliceMilliseconds))
            } else {
                poll(timeoutMilliseconds: Self.sliceMilliseconds)
            }
            idle = outstanding < before ? 0 : idle + 1
            waited += Self.sliceMilliseconds
            if waited % Self.serveMilliseconds == 0 { serve() }
        }
        return waited
    }

    /// Bounds a call that may never return: the producer is then given up, and never touched again.
    private func call(
        _ action: String,
        timeoutMilliseconds: Int,
        goesOn: () -> Bool,
        _ body: @escaping () -> OpaquePointer?
    ) throws(KafkaFault) -> OpaquePointer? {
        do throws(KafkaFault) {
            let bound = max(0, timeoutMilliseconds) + Self.graceMilliseconds
            return try unsafe BoundedCall.run(action, timeoutMilliseconds: bound, goesOn: goesOn, body)
        } catch {
            throw abandoned(error)
        }
    }

    /// The library looks for expired requests once a second.
    private static let graceMilliseconds = 2_000

    private static let sliceMilliseconds = 50
    private static let serveMilliseconds = 250
    private static let idleSlices = 20

    /// The library takes -1 as "for as long as the transaction may last"; zero would not even start.
    private func patience(_ milliseconds: Int) -> Int32 { max(1, clampedMilliseconds(milliseconds)) }

    private func check(_ error: OpaquePointer?, _ action: String) throws(KafkaFault) {
        guard let error = unsafe error else { return }
        // So that the last connection error is known.
        handle.serve()
        let fault = handle.explained(unsafe KafkaFault(takingOwnershipOfTransactional: error, doing: action))
        if let fatal = fatalFault { throw fatal }
        throw fault.requiresAbort ? spoiled(fault) : fault
    }
}
