internal import KafkaPorts
internal import Streams

extension ContractScript {
    static let g1 = everywhere("G1: a lone member gets all partitions, once", ends: ["allOnce"]) { world in
        try world.publishToAll(3)
        let member = try world.loneMember()
        try world.poll([member], until: "all records are read") { member.records.count >= 3 * Int(world.partitions) }
        try world.poll([member], milliseconds: 1_000)
        let isOnce = member.events == 1 && Set(member.records).count == member.records.count
        return isOnce ? "allOnce" : "repeated"
    }

    static let g2 = everywhere(
        "G2: a second member joins: revoked, released, shared",
        ends: ["revokedThenShared"]
    ) { world in
        let first = try world.loneMember()
        let second = try world.member("two")
        try world.poll([first, second], until: "the partitions are shared") {
            guard let one = first.assigned, let two = second.assigned else { return false }
            return one.isDisjoint(with: two) && one.count + two.count == Int(world.partitions) && !two.isEmpty
        }
        return first.losses == 0 && first.revocations > 0 ? "revokedThenShared" : "lostThenShared"
    }

    package static let g3 = everywhere(
        "G3: an unanswered assignment: no revocation, all wait",
        ends: ["allWait"]
    ) { world in
        let first = try world.member("one", .silent)
        try world.poll([first], until: "it is assigned") { first.assignments == 1 }
        let second = try world.member("two")
        try world.poll([first, second], milliseconds: 2_000)
        guard first.events == 1 else { return "toldMeanwhile" }
        guard second.events == 0 else { return "othersGoOn" }
        first.manner = .reading
        try first.answerGroup()
        try world.poll([first, second], until: "the partitions are shared") {
            first.events > 1 && (first.assigned?.count ?? 0) + (second.assigned?.count ?? 0) == Int(world.partitions)
                && second.assigned?.isEmpty == false
        }
        return "allWait"
    }

    static let g4 = onReal("G4: session expires: lost, known before the event", ends: ["lostAndKnownBefore"]) { world in
        let member = try world.loneMember()
        try world.cause(.away)
        // Nobody polls, so no event has come.
        try world.until("the loss is known", progress: { 0 }) { member.consumer.isAssignmentLost }
        try world.cause(.back)
        try world.poll([member], until: "it is assigned again") { member.assignments == 2 }
        return member.losses == 1 && member.revocations == 0 ? "lostAndKnownBefore" : "revoked"
    }

    static let g5 = onReal("G5: a static member returns within its session", ends: ["samePartitions"]) { world in
        let first = try world.member("one", isStatic: true)
        let second = try world.member("two", isStatic: true)
        try world.poll([first, second], until: "the partitions are shared") {
            first.assigned?.isEmpty == false && second.assigned?.isEmpty == false
        }
        let (before, events) = (first.assigned, second.events)
        try first.consumer.close(limit: 30_000)
        let again = try world.member("one", isStatic: true)
        try world.poll([again, second], until: "it is assigned again") { again.assigned != nil }
        try world.poll([again, second], milliseconds: 1_000)
        guard second.events == events else { return "othersToldOfIt" }
        return again.assigned == before ? "samePartitions" : "others"
    }

    static let g6 = onReal("G6: two of one name: the older is fenced at a poll", ends: ["olderIsFenced"]) { world in
        let first = try world.member("one", isStatic: true)
        try world.poll([first], until: "it is assigned") { first.assigned?.count == Int(world.partitions) }
        let second = try world.member("one", isStatic: true)
        try world.poll([first, second], until: "the newer has the partitions, and the older knows") {
            second.assigned?.count == Int(world.partitions) && first.faults.contains(where: \.isFencedMember)
        }
        let seen = second.events
        first.consumer.discard()
        try world.poll([second], milliseconds: 1_000)
        return second.events == seen ? "olderIsFenced" : "olderGoesOn"
    }

    static let g7 = onReal("G7: a removed member commits nothing, joins again", ends: ["refusedThenJoins"]) { world in
        let member = try world.loneMember(requests: 5)
        try world.poll([member], until: "records come") { member.offsets(0).count == 5 }
        let token = try member.consumer.token()
        try world.during(milliseconds: world.pollLimit) {}
        let producer = try ScriptedProducer(world, "one")
        try producer.open(1)
        let fault = try world.failure { try producer.sendOffset(5, token) }
        guard let fault, fault.requiresAbort, !fault.isFatal else { return "committed" }
        try producer.abort()
        // Neither with a transaction nor without one.
        if let id = try? member.consumer.commit([PartitionOffset(partition: 0, offset: 5)]) {
            try world.poll([member], until: "it is assigned again") { member.assignments == 2 }
            if case .some(nil) = member.commits[id] { return "committed" }
        }
        try world.poll([member], until: "it is assigned again") { member.assignments == 2 }
        guard try world.committedOffsets()[0].offset == nil else { return "committed" }
        try producer.transact(1, offset: 5, member.consumer.token())
        return try world.committedOffsets()[0].offset == 5 ? "refusedThenJoins" : "committed"
    }

    static let d1 = onMock("D1: close with an unanswered change returns", ends: ["left"]) { world in
        let member = try world.member("one", .silent)
        try world.poll([member], until: "it is assigned") { member.assignments == 1 }
        do throws(KafkaFault) { try member.consumer.close(limit: 30_000) } catch { return "timedOut" }
        return "left"
    }

    static let d2 = everywhere(
        "D2: discard never waits; no effect of the client's later",
        ends: ["partitionsMove"]
    ) { world in
        try world.publishToAll(1)
        let first = try world.loneMember()
        try world.poll([first], until: "records come") { first.records.count == Int(world.partitions) }
        // An answer that is outstanding never comes.
        _ = try first.consumer.commit([PartitionOffset(partition: 0, offset: 1)])
        first.consumer.discard()
        let seen = first.progress
        let second = try world.member("two")
        try world.poll([first, second], until: "the partitions move") {
            second.assigned?.count == Int(world.partitions)
        }
        return first.progress == seen ? "partitionsMove" : "stillAnswers"
    }
}
