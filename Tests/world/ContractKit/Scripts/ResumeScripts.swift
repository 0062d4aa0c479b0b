internal import BrokerKit
internal import KafkaPorts
internal import Streams

package enum MemberResumes: ContractScript {
    package enum Outcome: Hashable, Sendable { case restOnly, otherRecords, wrongOutputs }

    package static let number = "L1"
    package static let title = "member: an aborted transaction is read again, and a restart resumes"
    package static let worlds: Set<WorldKind> = [.model, .mock, .real]
    package static let allowed: Set<Outcome> = [.restOnly]

    package static func run(in world: any ContractWorld) throws -> Outcome {
        try world.publishToAll(5)
        let first = try world.member("one", .exactlyOnce)
        let all = try world.records(20, first)
        let (half, rest) = (all.filter { $0.partition < 2 }, all.filter { $0.partition >= 2 })
        try first.commit(half, half.outputs(.ledger) + first.marks(half))
        for _ in 0..<2 {
            first.fail(rest, rest.outputs(.ledger) + first.marks(rest))
            try first.abort()
            guard try world.records(10, first).places == rest.places else { return .otherRecords }
        }
        try first.member.close()
        let second = try world.member("one", .exactlyOnce)
        let resumed = try world.records(10, second)
        guard resumed.places == rest.places else { return .otherRecords }
        try second.commit(resumed, resumed.outputs(.ledger) + second.marks(resumed))
        try second.member.close()
        guard try world.committedOffsets().allSatisfy({ $0.offset == 5 }) else { return .wrongOutputs }
        return try world.sees(all, times: 1) ? .restOnly : .wrongOutputs
    }
}

package enum OrderAtLeastOnce: ContractScript {
    package enum Outcome: Hashable, Sendable { case outputsLedgerOffsets, early, wrongOrder }

    package static let number = "L2"
    package static let title = "member: at least once the ledger follows the outputs, and the offsets follow the ledger"
    package static let worlds: Set<WorldKind> = [.model, .mock, .real]
    package static let allowed: Set<Outcome> = [.outputsLedgerOffsets]

    package static func run(in world: any ContractWorld) throws -> Outcome {
        try world.publishToAll(5)
        let driver = try world.member("one", .atLeastOnce)
        var batch = try world.records(20, driver)
        // The first of the outputs, and the last one.
        for place in [1, nil] {
            driver.fail(batch, batch.outputs(.results, .ledger) + driver.marks(batch), after: place)
            try driver.abort()
            guard try world.visibleRecords(awaiting: 0).isEmpty,
                try world.committedOffsets().allSatisfy({ $0.offset == nil })
            else { return .early }
            let places = batch.places
            batch = try world.records(20, driver)
            guard batch.places == places else { return .wrongOrder }
        }
        try driver.commit(batch, batch.outputs(.ledger, .results) + driver.marks(batch))
        try driver.member.close()
        guard try world.committedOffsets().allSatisfy({ $0.offset == 5 }) else { return .wrongOrder }
        let values = try world.visibleRecords(awaiting: 20).map { $0.value ?? [] }
        let inOrder = batch.records.sorted { ($0.partition, $0.offset) < ($1.partition, $1.offset) }
        return values == inOrder.map { MemberDriver.output(.ledger, for: $0).value }
            ? .outputsLedgerOffsets : .wrongOrder
    }
}

package enum InterruptedRestore: ContractScript {
    package enum Outcome: Hashable, Sendable { case wholeLedgersThenRecords, early, otherLedgers, otherRecords }

    package static let number = "L3"
    package static let title = "member: an interrupted restore begins again, and waits for open transactions"
    package static let worlds: Set<WorldKind> = [.model, .mock, .real]
    package static let allowed: Set<Outcome> = [.wholeLedgersThenRecords]

    package static func run(in world: any ContractWorld) throws -> Outcome {
        try world.publishToAll(5)
        let before = try world.member("zero", .exactlyOnce)
        let all = try world.records(20, before)
        try before.commit(all, all.outputs(.ledger) + before.marks(all))
        try before.member.close()
        try world.publishToAll(3)
        let owner = world.abilities.contains(.transactions) ? try ScriptedProducer(world, "other") : nil
        try owner?.open(1)
        let first = try world.member("one", .exactlyOnce)
        var batches = [MemberBatch(), MemberBatch()]
        try world.until("it is assigned", progress: { first.progress }) {
            batches[0].add(try first.step(waitMilliseconds: 20))
            return !first.changes.isEmpty
        }
        let second = try world.member("two", .exactlyOnce)
        func step(until what: String, _ isDone: () -> Bool) throws {
            try world.until(what, progress: { first.progress + second.progress }) {
                for (index, driver) in [first, second].enumerated() {
                    batches[index].add(try driver.step(waitMilliseconds: 20))
                }
                return isDone()
            }
        }
        try step(until: "the partitions are shared") {
            first.assigned.count + second.assigned.count == Int(world.partitions) && !second.assigned.isEmpty
        }
        if owner != nil {
            try world.during(milliseconds: 1_000) {
                for (index, driver) in [first, second].enumerated() {
                    batches[index].add(try driver.step(waitMilliseconds: 20))
                }
            }
            let isEarly = batches.contains { $0.records.contains { $0.partition == 0 } }
            guard !first.isRestored || !second.isRestored, !isEarly else { return .early }
        }
        try owner?.commit()
        try step(until: "all is read") {
            first.isRestored && second.isRestored && batches.reduce(0) { $0 + $1.records.count } >= 12
        }
        let restored = (first.restored.last ?? []) + (second.restored.last ?? [])
        // With the marks.
        guard restored.count == 20 + Int(world.partitions) + (owner == nil ? 0 : 1) else { return .otherLedgers }
        for driver in [first, second] { try driver.member.close() }
        let records = batches.flatMap(\.records)
        return records.count == 12 && records.allSatisfy { $0.offset >= 5 } ? .wholeLedgersThenRecords : .otherRecords
    }
}

package enum RecreatedLedger: ContractScript {
    package enum Outcome: Hashable, Sendable { case held, committed, otherOffsets, reads }

    package static let number = "L4"
    package static let title = "member: a ledger made again under a worker holds its partitions, no commit"
    package static let worlds: Set<WorldKind> = [.model, .real]
    package static let needs: Set<Ability> = [.transactions, .recreation]
    package static let allowed: Set<Outcome> = [.held]

    package static func run(in world: any ContractWorld) throws -> Outcome { try run(in: world, .exactlyOnce) }

    fileprivate static func run(in world: any ContractWorld, _ delivery: MemberDelivery) throws -> Outcome {
        try world.publishToAll(5)
        let driver = try world.member("one", delivery)
        let batch = try world.records(20, driver)
        try driver.commit(batch, batch.outputs(.results, .ledger) + driver.marks(batch))
        driver.kept = Set(0..<world.partitions)
        try world.publishToAll(3)
        let next = try world.records(12, driver)
        try world.cause(.ledgerRecreated)
        do {
            try driver.commit(next, next.outputs(.results, .ledger) + driver.marks(next))
            return .committed
        } catch is KafkaFault {}
        try driver.abort()
        var later = MemberBatch()
        try world.until("the partitions are held", progress: { driver.progress }) {
            later.add(try driver.step(waitMilliseconds: 20))
            return driver.held.count == Int(world.partitions)
        }
        try world.during(milliseconds: 500) { later.add(try driver.step(waitMilliseconds: 20)) }
        try driver.member.close()
        guard later.records.isEmpty else { return .reads }
        guard try world.committedOffsets().allSatisfy({ $0.offset == 5 }) else { return .otherOffsets }
        return driver.held.values.allSatisfy { $0.contains("the ledger has no state for it") } ? .held : .reads
    }
}

package enum RecreatedLedgerAtLeastOnce: ContractScript {
    package static let number = "L4a"
    package static let title = RecreatedLedger.title + ", at least once"
    package static let worlds = RecreatedLedger.worlds
    package static let needs = RecreatedLedger.needs
    package static let allowed = RecreatedLedger.allowed

    package static func run(in world: any ContractWorld) throws -> RecreatedLedger.Outcome {
        try RecreatedLedger.run(in: world, .atLeastOnce)
    }
}

package enum UnknownOutcome: ContractScript {
    package enum End: Hashable, Sendable { case happened, didNot, isKnown }

    package enum Outcome: Hashable, Sendable { case onceEach(End, End), wrong }

    package static let number = "L5"
    package static let title = "member: after a transaction whose outcome is unknown, all is asked for again"
    package static let worlds: Set<WorldKind> = [.model, .mock, .real]
    package static let needs: Set<Ability> = [.silence]
    package static let allowed: Set<Outcome> = Set(
        [End.happened, .didNot].flatMap { first in [End.happened, .didNot].map { Outcome.onceEach(first, $0) } }
    )

    package static func run(in world: any ContractWorld) throws -> Outcome {
        let driver = try world.member("one", .exactlyOnce, outputMilliseconds: 8_000)
        var (all, ends) = (MemberBatch(), [End]())
        for number in 0..<2 as Range<Int64> {
            try world.publishToAll(1)
            // It knows its coordinator.
            all.records += try world.commit(4, driver).records
            driver.kept = Set(0..<world.partitions)
            try world.publishToAll(1)
            let batch = try world.records(4, driver)
            all.records += batch.records
            ends.append(try end(batch, driver, in: world))
            if ends.last == .didNot { _ = try world.commit(4, driver) }
            guard try world.committedOffsets().allSatisfy({ $0.offset == 2 * (number + 1) }) else { return .wrong }
        }
        try driver.member.close()
        return try world.sees(all, times: 1) ? .onceEach(ends[0], ends[1]) : .wrong
    }

    private static func end(_ batch: MemberBatch, _ driver: MemberDriver, in world: any ContractWorld) throws -> End {
        let (changes, restores) = (driver.changes.count, driver.restored.count)
        try world.cause(.unanswered(api: .endTransaction, times: 0))
        do {
            try driver.commit(batch, batch.outputs(.ledger) + driver.marks(batch))
            return .isKnown
        } catch let fault as KafkaFault { guard fault.isRecoverable else { throw fault } }
        try world.cause(.calm)
        try driver.abort()
        // Its partitions are announced again.
        try world.until("all is asked for again", progress: { driver.progress }) {
            // Records of a transaction that did not happen come again.
            if driver.changes.count == changes { try driver.step(waitMilliseconds: 20) }
            return driver.changes.count > changes
        }
        let isAfter = try world.committedOffsets().allSatisfy { $0.offset == batch.records[0].offset + 1 }
        guard isAfter else { return .didNot }
        try world.until("it is restored", progress: { driver.progress }) {
            guard try driver.step(waitMilliseconds: 20).records.isEmpty else {
                throw Standstill("a record comes again")
            }
            return driver.restored.count > restores
        }
        return .happened
    }
}
