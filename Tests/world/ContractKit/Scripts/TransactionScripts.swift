internal import BrokerKit
internal import KafkaPorts
internal import Streams

extension ContractScript {
    package static let t1 = onReal("T1: outputs and offsets become visible together", ends: ["together"]) { world in
        try world.publish(5, to: 0, of: .requests)
        let ports = try world.process("one", isStatic: false)
        let member = try ScriptedMember(ports.makeConsumer())
        try world.poll([member], until: "records come") { member.offsets(0).count == 5 }
        let producer = try ScriptedProducer(world, "one")
        try producer.open(3)
        try producer.sendOffset(5, member.consumer.token())
        guard try world.visibleLedger(awaiting: 0) == 0 else { return "early" }
        if case .success(5?) = try world.committedOffset(ports.queries) { return "early" }
        try producer.commit()
        try world.until("the offset is committed", progress: { 0 }) {
            if case .success(5?) = try world.committedOffset(ports.queries) { true } else { false }
        }
        return try world.visibleLedger(awaiting: 3) == 3 ? "together" : "missing"
    }

    static let t2 = onReal("T2: an abort leaves nothing", ends: ["nothing"]) { world in
        let producer = try ScriptedProducer(world, "one")
        try producer.open(3)
        try producer.abort()
        try producer.transact(2)
        return try world.visibleLedger(awaiting: 2) == 2 ? "nothing" : "something"
    }

    package static let t4 = onReal(
        "T4: init ends the predecessor's transaction, fences its commit, abort and offsets",
        ends: ["endedAndFenced"]
    ) { world in
        let member = try world.loneMember()
        let token = try member.consumer.token()
        let ends: [(ScriptedProducer) throws -> Void] = [
            { try $0.commit() }, { try $0.abort() }, { try $0.sendOffset(1, token) },
        ]
        for end in ends {
            let first = try ScriptedProducer(world, "one")
            try first.open(3)
            try ScriptedProducer(world, "one").transact(2)
            // Nor does it take more records.
            let calls: [(ScriptedProducer) throws -> Void] = [end, { _ = try $0.produce(1) }]
            for call in calls {
                let fault = try world.failure { try call(first) }
                guard let fault, fault.isFatal, fault.isFenced else { return "notFenced" }
            }
            guard first.producer.fatalFault?.isFenced == true else { return "notFenced" }
            first.producer.discard()
        }
        return try world.visibleLedger(awaiting: 6) == 6 ? "endedAndFenced" : "visible"
    }

    static let t6 = everywhere(
        "T6: refused or too large: no commit, the next works",
        ends: ["refusedThenWorks"]
    ) { world in
        let producer = try ScriptedProducer(world, "one")
        try producer.transact(1)
        var large = ScriptedProducer.record(0)
        large.value = [UInt8](repeating: 0, count: 2_000_000)
        for record in [ScriptedProducer.record(0, partition: world.partitions), large] {
            try producer.producer.begin()
            try producer.produce(1)
            do throws(KafkaFault) {
                _ = try producer.producer.produce([record])
                return "accepted"
            } catch {
                // The library would commit without the record: that is the caller's to know.
                guard !error.isFatal, !error.isRetriable || error.requiresAbort else { return "accepted" }
            }
            try producer.flush()
            try producer.abort()
        }
        try producer.transact(1)
        return "refusedThenWorks"
    }

    static let t7 = onMock("T7: offsets: retriable, refused", ends: ["retriableThenAbortable"]) { world in
        let member = try world.loneMember()
        let token = try member.consumer.token()
        let producer = try ScriptedProducer(world, "one")
        func send(_ milliseconds: Int64) -> KafkaFault? {
            do throws(KafkaFault) {
                let budget = CallBudget(until: world.now + milliseconds)
                try producer.producer.sendOffsets([PartitionOffset(partition: 0, offset: 1)], token, budget)
                return nil
            } catch { return error }
        }
        try producer.open(1)
        try world.cause(.refused(api: .addOffsetsToTransaction, code: .coordinatorNotAvailable, times: 20))
        guard let first = send(300), first.isRetriable, !first.isFatal, !first.requiresAbort else {
            return "not retriable"
        }
        try world.cause(.calm)
        try producer.sendOffset(1, token)
        try producer.commit()
        try producer.open(1)
        try world.cause(.refused(api: .transactionOffsetCommit, code: .illegalGeneration, times: 1))
        guard let second = send(60_000), second.requiresAbort, !second.isFatal else {
            return "not abortable"
        }
        try world.cause(.calm)
        try producer.abort()
        try producer.transact(1, offset: 1, token)
        return "retriableThenAbortable"
    }

    static let t8 = everywhere("T8: offsets without an answer: given up, no effect later", ends: ["givenUp"]) { world in
        let member = try world.loneMember()
        let token = try member.consumer.token()
        let producer = try ScriptedProducer(world, "one")
        try producer.open(1)
        try world.cause(.unanswered(api: .transactionOffsetCommit, times: 0))
        var isGivenUp = false
        do throws(KafkaFault) {
            let budget = CallBudget(until: world.now + 100)
            try producer.producer.sendOffsets([PartitionOffset(partition: 0, offset: 1)], token, budget)
        } catch { isGivenUp = error.isFatal && producer.producer.fatalFault != nil }
        producer.producer.discard()
        try world.cause(.calm)
        try ScriptedProducer(world, "one").transact(1, offset: 1, token)
        return isGivenUp ? "givenUp" : "other"
    }

    static let t9 = everywhere("T9: each of four repeated requests is counted", ends: ["all"]) { world in
        let member = try world.loneMember()
        let token = try member.consumer.token()
        let kinds: [APIKey] = [
            .addPartitionsToTransaction, .addOffsetsToTransaction, .transactionOffsetCommit, .endTransaction,
        ]
        for kind in kinds {
            let producer = try ScriptedProducer(world, "one")
            try producer.transact(1, offset: 1, token)
            guard producer.producer.unanswered == UnansweredRequests() else { return "none is repeated" }
            try world.cause(.unanswered(api: kind, times: 1))
            try producer.transact(1, offset: 1, token)
            try world.cause(.calm)
            let unanswered = producer.producer.unanswered
            guard unanswered.ends + unanswered.additions > 0 else { return "missed \(kind)" }
            producer.producer.discard()
        }
        return "all"
    }

    /// On a slow machine the second batch follows the first one's repeat, or the library gives the transaction up, and drops
    /// what is queued.
    static let t11 = ContractScript(
        "T11: a batch that overtook a refused one has no offset",
        in: [.model, .mock],
        ends: ["withoutOffset", "inOrder", "failed"],
        dependsOnMachine: true
    ) { world in
        let producer = try ScriptedProducer(world, "one")
        // Connects; the other partition's state stays empty.
        try producer.open([ScriptedProducer.record(0, partition: 2)])
        producer.producer.forgetDeliveries()
        try world.cause(.slow(milliseconds: 2_000))
        try world.cause(.refused(api: .produce, code: .notLeaderForPartition, times: 1))
        try producer.produce(1)
        // Adding the partition takes a round trip of its own.
        try world.during(milliseconds: 3_000) { producer.producer.serve(limit: 100) }
        try producer.produce(1)
        try world.until("the records end", progress: { producer.producer.outstanding }) {
            // A fault of a record shows in its delivery.
            _ = try? producer.producer.flush(limit: 100)
            return producer.producer.outstanding == 0
        }
        let deliveries = producer.producer.deliveries
        try world.cause(.calm)
        producer.producer.discard()
        if deliveries.withoutOffset > 0 { return "withoutOffset" }
        if deliveries.failed > 0 { return "failed" }
        return deliveries.acknowledged == 2 ? "inOrder" : "otherwise"
    }

    /// Some seed never fills it.
    static let t12 = onMock(
        "T12: a full queue takes fewer and drops none",
        ends: ["fewerAndNoneLost", "neverFull"]
    ) { world in
        let producer = try ScriptedProducer(world, "one", ProducerSettings(queue: 10))
        try producer.producer.begin()
        producer.producer.forgetDeliveries()
        let wasFull = try producer.produce(100)
        try producer.flush()
        let deliveries = producer.producer.deliveries
        try producer.commit()
        guard wasFull else { return "neverFull" }
        return deliveries.acknowledged == 100 && deliveries.failed == 0 ? "fewerAndNoneLost" : "lost"
    }

    static let t13 = everywhere("T13: a flush in time, in part, never", ends: ["inTimeThenLater"]) { world in
        let producer = try ScriptedProducer(world, "one")
        try producer.open(5)
        try world.cause(.away)
        try producer.produce(5)
        guard try !producer.producer.flush(limit: 200) else { return "neverLate" }
        try world.cause(.back)
        try producer.flush()
        let deliveries = producer.producer.deliveries
        try producer.commit()
        return deliveries.acknowledged == 10 && deliveries.failed == 0 ? "inTimeThenLater" : "lost"
    }

    static let t14 = onReal("T14: a discarded producer's records stay invisible", ends: ["invisible"]) { world in
        let first = try ScriptedProducer(world, "one")
        try first.producer.begin()
        try first.produce(3)
        first.producer.discard()
        try ScriptedProducer(world, "one").transact(2)
        try world.during(milliseconds: 3_000) {}
        return try world.visibleLedger(awaiting: 2) == 2 ? "invisible" : "visible"
    }

    package static let g8 = onReal("G8: an old token is refused after a rebalance", ends: ["refused"]) { world in
        let first = try world.loneMember()
        let old = try first.consumer.token()
        let second = try world.member("two")
        try world.poll([first, second], until: "the partitions are shared") {
            first.assignments == 2 && second.assigned?.isEmpty == false && first.assigned?.isEmpty == false
        }
        let producer = try ScriptedProducer(world, "one")
        try producer.open(1)
        let calls: [() throws -> Void] = [{ try producer.sendOffset(1, old) }, { try producer.commit() }]
        for call in calls {
            guard let fault = try world.failure(call), fault.requiresAbort, !fault.isFatal else { return "accepted" }
        }
        try producer.abort()
        try producer.transact(1, offset: 1, first.consumer.token())
        return "refused"
    }

    static let q1 = everywhere(
        "Q1: ends include open transactions; a new leader's",
        ends: ["ends(5, afterMove: 5)"]
    ) { world in
        try world.publish(3, to: 0, of: .ledger)
        let queries = try world.process("one", isStatic: false).queries
        let producer = try ScriptedProducer(world, "one")
        try producer.open(2)
        func end(by leader: String) throws -> Int64 {
            var found: Int64?
            try world.until("the \(leader) leader answers", progress: { 0 }) {
                let answer = try world.answer(queries, .ends([0], again: []))
                if case .success(.ends(let ledger, _, _)) = answer { found = ledger[0]?.high }
                return found != nil
            }
            return try found.orThrow("no end")
        }
        let first = try end(by: "first")
        try world.cause(.leaderMoves(0))
        let second = try end(by: "new")
        try producer.abort()
        return "ends(\(first), afterMove: \(second))"
    }
}
