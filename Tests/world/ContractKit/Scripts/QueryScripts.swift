internal import KafkaPorts
internal import Pipeline

extension ContractScript {
    static let q4 = ContractScript(
        "Q4: topics: missing, new, grown",
        in: [.mock, .real],
        ends: ["missingThenNew"]
    ) { world in
        let ports = try world.process("one", isStatic: false)
        let consumer = try ports.makeConsumer()
        func counts() throws -> [String: Int] {
            guard case .topics(let topics) = try world.answer(ports.queries, .topics).get() else { return [:] }
            return Dictionary(uniqueKeysWithValues: topics.map { ($0.name, $0.partitions) })
        }
        let before = try counts()
        guard before["made-later"] == nil, before.values.contains(Int(world.partitions)) else { return "wrong" }
        try world.cause(.topicMade("made-later", partitions: 7))
        // Each broker hears of it after a while.
        try world.until("the topic is known", progress: { 0 }) { try counts()["made-later"] == 7 }
        consumer.discard()
        return "missingThenNew"
    }

    static let q5 = onMock("Q5: no answer: 5 s, then the next query", ends: ["faultThenAnswer"]) { world in
        let ports = try world.process("one", isStatic: false)
        let consumer = try ports.makeConsumer()
        _ = try world.answer(ports.queries, .topics).get()
        try world.cause(.away)
        let begin = world.now
        guard case .failure(let fault) = try world.answer(ports.queries, .topics), fault.isRetriable,
            !fault.isFatal, world.now - begin >= 4_000
        else { return "wrong" }
        try world.cause(.back)
        try world.until("the broker answers", progress: { 0 }) {
            (try? world.answer(ports.queries, .topics).get()) != nil
        }
        consumer.discard()
        return "faultThenAnswer"
    }

    static let q2 = onReal("Q2: offsets wait for a pending transaction", ends: ["waitsThenNew"]) { world in
        try world.publish(5, to: 0, of: .requests)
        let ports = try world.process("one", isStatic: false)
        let member = try ScriptedMember(ports.makeConsumer())
        try world.poll([member], until: "records come") { member.offsets(0).count == 5 }
        let (producer, token) = (try ScriptedProducer(world, "one"), try member.consumer.token())
        try producer.transact(1, offset: 2, token)
        try producer.open(1)
        try producer.sendOffset(1, token, partition: 1)
        try producer.commit()
        try producer.open(1)
        try producer.sendOffset(4, token)
        // Alone, the offset of another partition is known.
        guard case .success(1?) = try world.committedOffset(ports.queries, of: 1) else { return "otherWaits" }
        let id = ports.queries.ask(.offsets([0, 1], limit: 20_000))
        var answer: Result<BrokerAnswer, KafkaFault>?
        func poll() { if let next = ports.queries.nextAnswer(), next.id == id { answer = next.answer } }
        try world.during(milliseconds: 1_000, poll)
        guard answer == nil else { return "early" }
        try producer.commit()
        try world.until("the query is answered", progress: { 0 }) {
            poll()
            return answer != nil
        }
        guard case .success(.offsets(let offsets, _))? = answer, offsets.first?.offset == 4 else { return "old" }
        return "waitsThenNew"
    }

    static let q6 = onReal("Q6: an heir ends what another id has left open", ends: ["abortedAndFenced"]) { world in
        try world.publish(5, to: 0, of: .requests)
        let heir = try world.process("heir", isStatic: false)
        let member = try ScriptedMember(heir.makeConsumer())
        try world.poll([member], until: "records come") { member.offsets(0).count == 5 }
        let (producer, token) = (try ScriptedProducer(world, "dead"), try member.consumer.token())
        try producer.transact(1, offset: 2, token)
        try producer.open(1)
        try producer.sendOffset(4, token)
        guard case .success(.members(let ids)) = try world.answer(heir.queries, .members),
            try ids == [Array(world.transactionalID("heir").utf8)]
        else { throw Standstill("the group has one member, which is known by its id") }
        let dead = try Array(world.transactionalID("dead").utf8)
        guard case .success(.aborted) = try world.answer(heir.queries, .abortTransaction(of: dead)),
            case .success(.offsets(let offsets, _)) = try world.answer(heir.queries, .offsets([0], limit: 5_000))
        else { return "unstable" }
        guard offsets.first?.offset == 2 else { return "committed" }
        let fault = try world.failure { try producer.commit() }
        return fault?.isFatal == true ? "abortedAndFenced" : "notFenced"
    }

    static let q3 = onReal("Q3: offsets' metadata returns; stock tools wipe it", ends: ["returnsThenWiped"]) { world in
        let member = try world.loneMember(requests: 5)
        try world.poll([member], until: "records come") { member.offsets(0).count == 5 }
        let producer = try ScriptedProducer(world, "one")
        for (offset, text) in [(2, []), (3, PartitionPositions.metadata)] as [(Int64, [UInt8])] {
            try producer.open(1)
            try producer.sendOffset(offset, member.consumer.token(), metadata: text)
            try producer.commit()
            let own = try world.committedOffsets()[0]
            guard own.offset == offset, own.metadata == text else { return "lost" }
        }
        try member.consumer.close(limit: 30_000)
        try world.cause(.offsetSet(1))
        let set = try world.committedOffsets()[0]
        return set.offset == 1 && set.metadata.isEmpty ? "returnsThenWiped" : "kept"
    }
}
