package import KafkaPorts
package import Streams

/// A producer that calls the library in the order in which a writer does, and notes what it says.
package final class ScriptedProducer {
    package let producer: any TransactionProducer
    private let world: any ContractWorld

    /// Takes over the name's transactional id.
    package init(_ world: any ContractWorld, _ name: String, _ settings: ProducerSettings = .init()) throws {
        self.world = world
        producer = try world.producer(name, settings)
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
        record("\(number)", "\(number)", partition: partition)
    }

    /// - Parameter value: nil = a tombstone.
    package static func record(_ key: String, _ value: String?, partition: Int32 = 0) -> OutboundRecord {
        OutboundRecord(
            stream: .ledger,
            partition: partition,
            sourceOffset: 0,
            sourceTimestamp: 0,
            key: Array(key.utf8),
            value: value.map { Array($0.utf8) }
        )
    }

    /// - Returns: whether the queue was full meanwhile.
    @discardableResult
    package func produce(_ count: Int, partition: Int32 = 0) throws -> Bool {
        try produce((0..<count).map { Self.record($0, partition: partition) })
    }

    @discardableResult
    package func produce(_ records: [OutboundRecord]) throws -> Bool {
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

    package func sendOffset(
        _ offset: Int64,
        _ token: any MemberToken,
        partition: Int32 = 0,
        metadata: [UInt8] = []
    ) throws {
        try retrying("the offsets are in the transaction") { () throws(KafkaFault) in
            let budget = CallBudget(until: world.now + 60_000)
            let offsets = [PartitionOffset(partition: partition, offset: offset, metadata: metadata)]
            try producer.sendOffsets(offsets, token, budget)
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
        try transact((0..<count).map { Self.record($0) }, offset: offset, token)
    }

    package func transact(
        _ records: [OutboundRecord],
        offset: Int64? = nil,
        _ token: (any MemberToken)? = nil
    ) throws {
        try open(records)
        if let offset, let token { try sendOffset(offset, token) }
        try commit()
    }

    /// Begins a transaction whose records have arrived.
    package func open(_ records: [OutboundRecord]) throws {
        try producer.begin()
        producer.forgetDeliveries()
        try produce(records)
        try flush()
    }

    package func open(_ count: Int) throws { try open((0..<count).map { Self.record($0) }) }
}

extension ContractWorld {
    /// How many records of ledgers a reader of committed ones sees.
    package func visibleLedger(awaiting expected: Int) throws -> Int { try visibleRecords(awaiting: expected).count }

    /// The group's committed offset of a partition, by stable offsets; a fault where a transaction holds it back.
    func committedOffset(_ queries: any BrokerQueries, of partition: Int32 = 0) throws -> Result<Int64?, KafkaFault> {
        try answer(queries, .offsets([partition], limit: 5_000)).map { answer in
            guard case .offsets(let offsets, _) = answer else { return nil }
            return offsets.first?.offset
        }
    }

    /// The group's stable offsets as a process outside of it sees them.
    func committedOffsets() throws -> [CommittedOffset] {
        let ports = try process("observer", isStatic: false)
        let consumer = try ports.makeConsumer()
        defer { consumer.discard() }
        var found: [CommittedOffset] = []
        try until("offsets are known", progress: { 0 }) {
            let stable = try answer(ports.queries, .offsets(Array(0..<partitions), limit: 5_000))
            if case .success(.offsets(let offsets, _)) = stable { found = offsets }
            return !found.isEmpty
        }
        ports.queries.close()
        return found
    }
}
