internal import BrokerKit
internal import KafkaPorts
internal import Streams

extension ContractWorld {
    /// The fault that a call ends with; nil = it succeeds.
    func failure(_ call: () throws -> Void) throws -> KafkaFault? {
        do { try call() } catch let fault as KafkaFault { return fault }
        return nil
    }

    func publishToAll(_ count: Int) throws {
        for partition in 0..<partitions { try publish(count, to: partition, of: .requests) }
    }

    func member(_ name: String, _ delivery: MemberDelivery) throws -> MemberDriver {
        try member(name, delivery, outputMilliseconds: 60_000)
    }

    /// Steps members in turn until the condition holds.
    ///
    /// - Parameter take: takes the records that a member gave, by its place.
    func step(
        _ drivers: [MemberDriver],
        until what: String,
        take: (_ place: Int, _ round: MemberBatch) -> Void = { _, _ in },
        _ condition: () -> Bool
    ) throws {
        try until(what, progress: { drivers.reduce(0) { $0 + $1.progress } }) {
            for (place, driver) in drivers.enumerated() { take(place, try driver.step(waitMilliseconds: 20)) }
            return condition()
        }
    }

    /// Steps a member until so many records of one assignment have come.
    func records(_ count: Int, _ driver: MemberDriver) throws -> MemberBatch {
        var batch = MemberBatch()
        try step([driver], until: "\(count) records come", take: { batch.add($1) }) { batch.records.count >= count }
        return batch
    }

    /// Commits the next records; a slow machine may need another try.
    func commit(_ count: Int, _ driver: MemberDriver) throws -> MemberBatch {
        var batch = MemberBatch()
        try until("\(count) records are committed", progress: { driver.progress }) {
            batch = try records(count, driver)
            let fault = try failure { try driver.commit(batch, batch.outputs(.ledger) + driver.marks(batch)) }
            guard let fault else { return true }
            guard fault.isRecoverable else { throw fault }
            try driver.abort()
            return false
        }
        return batch
    }

    /// Whether the ledgers show each of the records so often; true where aborted records are visible, too.
    func sees(_ batch: MemberBatch, times: Int) throws -> Bool {
        guard hasTransactions else { return true }
        let expected = batch.records.map { MemberDriver.output(.ledger, for: $0).value }
        let seen = try visibleRecords(awaiting: expected.count * times).map(\.value)
        return seen.count == expected.count * times && Set(seen) == Set(expected)
    }

    /// What a reader of committed records sees of all ledgers, without marks, partition by partition: waits for so many, and
    /// then for more.
    func visibleRecords(awaiting expected: Int) throws -> [StoredRecord] {
        let reader = try process("reader", isStatic: false).makeReader()
        defer { reader.discard() }
        try reader.start(starts)
        var found: [StoredRecord] = []
        func read() throws {
            found += try reader.poll(most: 100, waiting: 20).records.records.filter { $0.key != [4] }
        }
        try until("\(expected) records are visible", progress: { found.count }) {
            try read()
            return found.count >= expected
        }
        try during(milliseconds: 700, read)
        return (0..<partitions).flatMap { partition in found.filter { $0.partition == partition } }
    }
}
