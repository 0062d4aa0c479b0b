package import KafkaPorts
package import Log

/// A producer that calls the library in the order in which a writer does, and notes what it says.
package final class ScriptedProducer {
    package let producer: any TransactionProducer
    private let world: any ContractWorld

    /// Takes over the name's transactional id.
    package init(_ world: any ContractWorld, _ name: String, queue: Int? = nil) throws {
        self.world = world
        producer = try world.producer(name, queue: queue)
        try retrying("the id is taken over") { () throws(KafkaFault) in try producer.initTransactions(limit: 250) }
        producer.know([OutputTopic.ledger.rawValue: world.partitions])
    }

    /// Repeats a call while a retry may help.
    package func retrying(_ what: String, _ call: () throws(KafkaFault) -> Void) throws {
        try world.until(what, progress: { 0 }) {
            do throws(KafkaFault) { try call() } catch {
                guard error.isRetriable, !error.isFatal, !error.requiresAbort else { throw error }
                producer.serve(limit: 20)
                return false
            }
            return true
        }
    }

    package static func record(_ number: Int, partition: Int32 = 0) -> OutboundRecord {
        OutboundRecord(
            stream: .ledger,
            partition: partition,
            sourceOffset: 0,
            sourceTimestamp: 0,
            key: Array("\(number)".utf8),
            value: Array("\(number)".utf8)
        )
    }

    /// - Returns: whether the queue was full meanwhile.
    @discardableResult
    package func produce(_ count: Int, partition: Int32 = 0) throws -> Bool {
        let records = (0..<count).map { Self.record($0, partition: partition) }
        var (rest, wasFull) = (records[...], false)
        try world.until("the records are queued", progress: { rest.count }) {
            rest = rest.dropFirst(try producer.produce(rest))
            if !rest.isEmpty {
                wasFull = true
                producer.serve(limit: 20)
            }
            return rest.isEmpty
        }
        return wasFull
    }

    package func flush() throws {
        try world.until("the records arrive", progress: { producer.outstanding }) {
            try producer.flush(limit: 100) && producer.outstanding == 0
        }
    }

    package func sendOffset(_ offset: Int64, _ token: any MemberToken) throws {
        try retrying("the offsets are in the transaction") { () throws(KafkaFault) in
            let budget = CallBudget(until: world.now + 60_000)
            try producer.sendOffsets([PartitionOffset(partition: 0, offset: offset)], token, budget)
        }
    }

    package func commit() throws {
        try retrying("the transaction is committed") { () throws(KafkaFault) in try producer.commit(limit: 500) }
    }

    package func abort() throws {
        try world.until("the transaction is settled", progress: { producer.outstanding }) {
            producer.serve(limit: 20)
            return producer.outstanding == 0 && producer.unanswered.additions == 0
        }
        try retrying("the transaction is aborted") { () throws(KafkaFault) in try producer.abort(limit: 250) }
    }

    /// A whole transaction.
    package func transact(_ count: Int, offset: Int64? = nil, _ token: (any MemberToken)? = nil) throws {
        try producer.begin()
        producer.forgetDeliveries()
        try produce(count)
        try flush()
        if let offset, let token { try sendOffset(offset, token) }
        try commit()
    }
}

extension ContractWorld {
    /// How many records of the first partition of ledgers a reader of committed ones sees: waits for so many, and then for
    /// more.
    package func visibleLedger(awaiting expected: Int) throws -> Int {
        let reader = try process("reader", isStatic: false).makeReader()
        try reader.start([PartitionOffset(partition: 0, offset: PartitionOffset.beginning)])
        var count = 0
        func read() throws { count += try reader.poll(most: 100, waiting: 20).offsets.count }
        try until("\(expected) records are visible", progress: { count }) {
            try read()
            return count >= expected
        }
        try during(milliseconds: 700, read)
        reader.discard()
        return count
    }

    /// The group's committed offset of partition 0, by stable offsets; a fault where a transaction holds it back.
    func committedOffset(_ queries: any BrokerQueries) throws -> Result<Int64?, KafkaFault> {
        try answer(queries, .offsets([0])).map { answer in
            guard case .offsets(let offsets, _) = answer else { return nil }
            return offsets.first?.offset
        }
    }
}
