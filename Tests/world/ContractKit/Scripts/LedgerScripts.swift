internal import BrokerKit
internal import KafkaPorts
internal import Streams

extension ContractScript {
    static let l4 = onReal(
        "L4: member: a ledger made again under a worker holds its partitions, no commit",
        ends: ["held"]
    ) { world in try recreated(world, .exactlyOnce) }

    static let l4a = onReal(
        "L4a: member: a ledger made again under a worker holds its partitions, no commit, at least once",
        ends: ["held"]
    ) { world in try recreated(world, .atLeastOnce) }

    private static func recreated(_ world: any ContractWorld, _ delivery: MemberDelivery) throws -> String {
        try world.publishToAll(5)
        let driver = try world.member("one", delivery)
        let batch = try world.records(20, driver)
        try driver.commit(batch, batch.outputs(.results, .ledger) + driver.marks(batch))
        driver.kept = Set(0..<world.partitions)
        try world.publishToAll(3)
        let next = try world.records(12, driver)
        try world.cause(.ledgerRecreated)
        let fault = try world.failure { try driver.commit(next, next.outputs(.results, .ledger) + driver.marks(next)) }
        guard fault != nil else { return "committed" }
        try driver.abort()
        var later = MemberBatch()
        try world.step([driver], until: "the partitions are held", take: { later.add($1) }) {
            driver.held.count == Int(world.partitions)
        }
        try world.during(milliseconds: 500) { later.add(try driver.step(waitMilliseconds: 20)) }
        try driver.member.close()
        guard later.records.isEmpty else { return "reads" }
        guard try world.committedOffsets().allSatisfy({ $0.offset == 5 }) else { return "otherOffsets" }
        return driver.held.values.allSatisfy { $0.contains("the ledger has no state for it") } ? "held" : "reads"
    }

    static let l7 = ContractScript(
        "L7: member: a restore ends although its ledger is made again below the end that it reads up to",
        in: [.real],
        ends: ["onlyTheNewOnes"]
    ) { world in
        func made(_ count: Int, _ word: String) -> [OutboundRecord] {
            (0..<count).map { ScriptedProducer.record("\(word) \($0)", word, partition: Int32($0) % world.partitions) }
        }
        let owner = try ScriptedProducer(world, "other")
        try owner.transact(made(30, "first"))
        // The restore stands still before these.
        try owner.open(made(300, "open"))
        let driver = try world.member("one", .exactlyOnce)
        try world.step([driver], until: "the first are read") { driver.readCount == 30 }
        try world.cause(.ledgerRecreated)
        try ScriptedProducer(world, "next").transact(made(60, "others"))
        try world.step([driver], until: "it is restored") { !driver.restored.isEmpty }
        // A fetch before the topic has so many records again fails at once; else its end, asked for again, tells it. After
        // another assignment there is nothing to tell.
        let troubles = driver.member.troubles
        let tells = troubles.contains { $0.isOffsetGone || $0.message.contains("when its restore began") }
        try driver.member.close()
        withExtendedLifetime(owner) {}
        let restored = driver.restored[0]
        guard restored.count == 60, restored.allSatisfy({ $0.value == Array("others".utf8) }) else { return "others" }
        return tells || driver.changes.count > 1 ? "onlyTheNewOnes" : "untold"
    }

    static let l8 = onReal(
        "L8: member: of a kept ledger only the last known record and later ones are read",
        ends: ["onlyTail"]
    ) { world in
        let partitions = Int(world.partitions)
        try world.publishToAll(5)
        let first = try world.member("one", .exactlyOnce)
        _ = try world.commit(20, first)
        first.kept = Set(0..<world.partitions)
        let second = try world.member("two", .exactlyOnce)
        var theirs = MemberBatch()
        func step(until what: String, _ isDone: () -> Bool) throws {
            try world.step([first, second], until: what, take: { if $0 == 1 { theirs.add($1) } }, isDone)
        }
        try step(until: "the partitions are shared") {
            first.isRestored && second.isRestored && !second.assigned.isEmpty
                && first.assigned.count + second.assigned.count == partitions
        }
        let (mine, others) = (first.assigned.count, second.assigned.count)
        // With the marks.
        guard first.restored.last?.count == mine, second.restored.last?.count == 6 * others
        else { return "otherLedgers" }
        try world.publishToAll(3)
        try step(until: "records come") { theirs.records.count >= 3 * others }
        try second.commit(theirs, theirs.outputs(.ledger) + second.marks(theirs))
        try second.member.close()
        let restores = first.restored.count
        try world.step([first], until: "it has all partitions") { first.restored.count > restores }
        guard first.restored.last?.count == partitions + 4 * others else { return "otherLedgers" }
        try first.member.close()
        // It has kept nothing.
        let third = try world.member("three", .exactlyOnce)
        try world.step([third], until: "it is restored") { !third.restored.isEmpty }
        try third.member.close()
        return third.restored.last?.count == 6 * partitions + 4 * others ? "onlyTail" : "otherLedgers"
    }
}
