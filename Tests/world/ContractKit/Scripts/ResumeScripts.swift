internal import BrokerKit
internal import KafkaPorts
internal import Streams

extension ContractScript {
    static let l1 = everywhere(
        "L1: member: an aborted transaction is read again, and a restart resumes",
        ends: ["restOnly"]
    ) { world in
        try world.publishToAll(5)
        let first = try world.member("one", .exactlyOnce)
        let all = try world.records(20, first)
        let (half, rest) = (all.filter { $0.partition < 2 }, all.filter { $0.partition >= 2 })
        try first.commit(half, half.outputs(.ledger) + first.marks(half))
        for _ in 0..<2 {
            first.fail(rest, rest.outputs(.ledger) + first.marks(rest))
            try first.abort()
            guard try world.records(10, first).places == rest.places else { return "otherRecords" }
        }
        try first.member.close()
        let second = try world.member("one", .exactlyOnce)
        let resumed = try world.records(10, second)
        guard resumed.places == rest.places else { return "otherRecords" }
        try second.commit(resumed, resumed.outputs(.ledger) + second.marks(resumed))
        try second.member.close()
        guard try world.committedOffsets().allSatisfy({ $0.offset == 5 }) else { return "wrongOutputs" }
        return try world.sees(all, times: 1) ? "restOnly" : "wrongOutputs"
    }

    static let l2 = everywhere(
        "L2: member: at least once the ledger follows the outputs, and the offsets follow the ledger",
        ends: ["outputsLedgerOffsets"]
    ) { world in
        try world.publishToAll(5)
        let driver = try world.member("one", .atLeastOnce)
        var batch = try world.records(20, driver)
        // The first of the outputs, and the last one.
        for place in [1, nil] {
            driver.fail(batch, batch.outputs(.results, .ledger) + driver.marks(batch), after: place)
            try driver.abort()
            guard try world.visibleRecords(awaiting: 0).isEmpty,
                try world.committedOffsets().allSatisfy({ $0.offset == nil })
            else { return "early" }
            let places = batch.places
            batch = try world.records(20, driver)
            guard batch.places == places else { return "wrongOrder" }
        }
        try driver.commit(batch, batch.outputs(.ledger, .results) + driver.marks(batch))
        try driver.member.close()
        guard try world.committedOffsets().allSatisfy({ $0.offset == 5 }) else { return "wrongOrder" }
        let values = try world.visibleRecords(awaiting: 20).map { $0.value ?? [] }
        let inOrder = batch.records.sorted { ($0.partition, $0.offset) < ($1.partition, $1.offset) }
        return values == inOrder.map { MemberDriver.output(.ledger, for: $0).value }
            ? "outputsLedgerOffsets" : "wrongOrder"
    }

    package static let l3 = everywhere(
        "L3: member: an interrupted restore begins again, waits for open transactions, ends its predecessor's",
        ends: ["wholeLedgersThenRecords"]
    ) { world in
        try world.publishToAll(5)
        let before = try world.member("zero", .exactlyOnce)
        let all = try world.records(20, before)
        try before.commit(all, all.outputs(.ledger) + before.marks(all))
        try before.member.close()
        try world.publishToAll(3)
        // One has the id of a member that comes, which ends its transaction.
        let owners = world.hasTransactions ? try ["other", "one"].map { try ScriptedProducer(world, $0) } : []
        for owner in owners { try owner.open(1) }
        let first = try world.member("one", .exactlyOnce)
        var batches = [MemberBatch(), MemberBatch()]
        try world.step([first], until: "it is assigned", take: { batches[$0].add($1) }) { !first.changes.isEmpty }
        let second = try world.member("two", .exactlyOnce)
        func step(until what: String, _ isDone: () -> Bool) throws {
            try world.step([first, second], until: what, take: { batches[$0].add($1) }, isDone)
        }
        try step(until: "the partitions are shared") {
            first.assigned.count + second.assigned.count == Int(world.partitions) && !second.assigned.isEmpty
        }
        if !owners.isEmpty {
            try world.during(milliseconds: 1_000) {
                for (index, driver) in [first, second].enumerated() {
                    batches[index].add(try driver.step(waitMilliseconds: 20))
                }
            }
            let isEarly = batches.contains { $0.records.contains { $0.partition == 0 } }
            guard !first.isRestored || !second.isRestored, !isEarly else { return "early" }
        }
        try owners.first?.commit()
        try step(until: "all is read") {
            first.isRestored && second.isRestored && batches.reduce(0) { $0 + $1.records.count } >= 12
        }
        let restored = (first.restored.last ?? []) + (second.restored.last ?? [])
        // With the marks.
        guard restored.count == 20 + Int(world.partitions) + (owners.isEmpty ? 0 : 1) else { return "otherLedgers" }
        let records = batches.flatMap(\.records)
        guard records.count == 12, records.allSatisfy({ $0.offset >= 5 }) else { return "otherRecords" }
        for (driver, batch) in zip([first, second], batches) {
            try driver.commit(batch, batch.outputs(.ledger) + driver.marks(batch))
        }
        for driver in [first, second] { try driver.member.close() }
        guard try world.committedOffsets().allSatisfy({ $0.offset == 8 }) else { return "otherOffsets" }
        // With the other owner's.
        let seen = owners.isEmpty ? [] : try world.visibleRecords(awaiting: 33).map(\.value)
        let isOnce = owners.isEmpty || seen.count == 33 && Set(seen).count == 33
        return isOnce ? "wholeLedgersThenRecords" : "otherOutputs"
    }

    static let l5 = everywhere(
        "L5: member: after a transaction whose outcome is unknown, all is asked for again",
        ends: pairs(["happened", "didNot"]) { "onceEach(\($0), \($1))" }
    ) { world in
        let driver = try world.member("one", .exactlyOnce, outputMilliseconds: 8_000)
        var (all, ends) = (MemberBatch(), [String]())
        for number in 0..<2 as Range<Int64> {
            try world.publishToAll(1)
            // It knows its coordinator.
            all.records += try world.commit(4, driver).records
            driver.kept = Set(0..<world.partitions)
            try world.publishToAll(1)
            let batch = try world.records(4, driver)
            all.records += batch.records
            ends.append(try end(batch, driver, in: world))
            if ends.last == "didNot" { _ = try world.commit(4, driver) }
            guard try world.committedOffsets().allSatisfy({ $0.offset == 2 * (number + 1) }) else { return "wrong" }
        }
        try driver.member.close()
        return try world.sees(all, times: 1) ? "onceEach(\(ends[0]), \(ends[1]))" : "wrong"
    }

    private static func end(
        _ batch: MemberBatch,
        _ driver: MemberDriver,
        in world: any ContractWorld
    ) throws -> String {
        let (changes, restores) = (driver.changes.count, driver.restored.count)
        try world.cause(.unanswered(api: .endTransaction, times: 0))
        let fault = try world.failure { try driver.commit(batch, batch.outputs(.ledger) + driver.marks(batch)) }
        guard let fault else { return "isKnown" }
        guard fault.isRecoverable else { throw fault }
        try world.cause(.calm)
        try driver.abort()
        // Its partitions are announced again.
        try world.until("all is asked for again", progress: { driver.progress }) {
            // Records of a transaction that did not happen come again.
            if driver.changes.count == changes { try driver.step(waitMilliseconds: 20) }
            return driver.changes.count > changes
        }
        let isAfter = try world.committedOffsets().allSatisfy { $0.offset == batch.records[0].offset + 1 }
        guard isAfter else { return "didNot" }
        try world.until("it is restored", progress: { driver.progress }) {
            guard try driver.step(waitMilliseconds: 20).records.isEmpty else {
                throw Standstill("a record comes again")
            }
            return driver.restored.count > restores
        }
        return "happened"
    }

    static let l6 = onReal("L6: member: a late commit ends no later transaction", ends: ["onceEach"]) { world in
        try late(.commit, in: world)
    }

    static let l6a = onReal("L6a: member: a late abort drops no later transaction", ends: ["onceEach"]) { world in
        try late(.abort, in: world)
    }

    static let l6b = onReal("L6b: member: late offsets move no group back", ends: ["onceEach"]) { world in
        try late(.offsets, in: world)
    }

    private enum LateRequest { case commit, abort, offsets }

    /// KAFKA-17754: a request of the first transaction is repeated inside a call that succeeds, and its first copy arrives in
    /// the middle of the second one.
    private static func late(_ request: LateRequest, in world: any ContractWorld) throws -> String {
        try world.publish(30, to: 0, of: .requests)
        let driver = try world.member("one", .exactlyOnce)
        let all = try world.records(30, driver)
        let (first, rest) = (all.filter { $0.offset < 10 }, all.filter { $0.offset >= 10 })
        let outputs = first.outputs(.ledger) + driver.marks(first)
        if request == .abort { driver.fail(first, outputs) }
        try world.cause(.late(api: request == .offsets ? .transactionOffsetCommit : .endTransaction))
        if request == .abort { try driver.abort() } else { try driver.commit(first, outputs) }
        try world.cause(.calm)
        switch request {
        case .commit:
            // A late commit would show this one's records, which nobody commits.
            driver.fail(rest, rest.outputs(.ledger) + driver.marks(rest))
            try world.during(milliseconds: 1_000) {}
            try driver.abort()
            _ = try world.commit(20, driver)
        case .abort: _ = try world.commit(30, driver)
        case .offsets: try driver.commit(rest, rest.outputs(.ledger) + driver.marks(rest))
        }
        try driver.member.close()
        guard try world.committedOffsets()[0].offset == 30 else { return "otherOffsets" }
        return try world.sees(all, times: 1) ? "onceEach" : "otherOutputs"
    }
}
