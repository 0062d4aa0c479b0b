internal import KafkaPorts
internal import Streams

package enum VisibleTogether: ContractScript {
    package enum Outcome: Hashable, Sendable { case together, early, missing }

    package static let number = "T1"
    package static let title = "outputs and offsets become visible together"
    package static let worlds: Set<WorldKind> = [.model, .real]
    package static let needs: Set<Ability> = [.transactions]
    package static let allowed: Set<Outcome> = [.together]

    package static func run(in world: any ContractWorld) throws -> Outcome {
        try world.publish(5, to: 0, of: .requests)
        let ports = try world.process("one", isStatic: false)
        let member = try ScriptedMember(ports.makeConsumer())
        try world.poll([member], until: "records come") { member.offsets(0).count == 5 }
        let producer = try ScriptedProducer(world, "one")
        try producer.producer.begin()
        try producer.produce(3)
        try producer.flush()
        try producer.sendOffset(5, member.consumer.token())
        guard try world.visibleLedger(awaiting: 0) == 0 else { return .early }
        if case .success(5?) = try world.committedOffset(ports.queries) { return .early }
        try producer.commit()
        try world.until("the offset is committed", progress: { 0 }) {
            if case .success(5?) = try world.committedOffset(ports.queries) { true } else { false }
        }
        return try world.visibleLedger(awaiting: 3) == 3 ? .together : .missing
    }
}

package enum AbortLeavesNothing: ContractScript {
    package enum Outcome: Hashable, Sendable { case nothing, something }

    package static let number = "T2"
    package static let title = "an abort leaves nothing"
    package static let worlds: Set<WorldKind> = [.model, .real]
    package static let needs: Set<Ability> = [.transactions]
    package static let allowed: Set<Outcome> = [.nothing]

    package static func run(in world: any ContractWorld) throws -> Outcome {
        let producer = try ScriptedProducer(world, "one")
        try producer.producer.begin()
        try producer.produce(3)
        try producer.flush()
        try producer.abort()
        try producer.transact(2)
        return try world.visibleLedger(awaiting: 2) == 2 ? .nothing : .something
    }
}

package enum InitEndsPredecessor: ContractScript {
    package enum Outcome: Hashable, Sendable { case endedAndFenced, visible, notFenced }

    package static let number = "T4"
    package static let title = "init ends the predecessor's transaction, fences it"
    package static let worlds: Set<WorldKind> = [.model, .real]
    package static let needs: Set<Ability> = [.transactions, .fencing]
    package static let allowed: Set<Outcome> = [.endedAndFenced]

    package static func run(in world: any ContractWorld) throws -> Outcome {
        let first = try ScriptedProducer(world, "one")
        try first.producer.begin()
        try first.produce(3)
        try first.flush()
        let second = try ScriptedProducer(world, "one")
        try second.transact(2)
        guard try world.visibleLedger(awaiting: 2) == 2 else { return .visible }
        do { try first.commit() } catch let fault as KafkaFault {
            first.producer.discard()
            return fault.isFatal ? .endedAndFenced : .notFenced
        }
        return .notFenced
    }
}

package enum RefusedRecord: ContractScript {
    package enum Outcome: Hashable, Sendable { case refusedThenWorks, accepted }

    package static let number = "T6"
    package static let title = "refused or too large: no commit, the next works"
    package static let worlds: Set<WorldKind> = [.model, .mock, .real]
    package static let allowed: Set<Outcome> = [.refusedThenWorks]

    package static func run(in world: any ContractWorld) throws -> Outcome {
        let producer = try ScriptedProducer(world, "one")
        try producer.transact(1)
        var large = ScriptedProducer.record(0)
        large.value = [UInt8](repeating: 0, count: 2_000_000)
        for record in [ScriptedProducer.record(0, partition: world.partitions), large] {
            try producer.producer.begin()
            try producer.produce(1)
            do throws(KafkaFault) {
                _ = try producer.producer.produce([record])
                return .accepted
            } catch {
                // The library would commit without the record: that is the caller's to know.
                guard !error.isFatal, !error.isRetriable || error.requiresAbort else { return .accepted }
            }
            try producer.flush()
            try producer.abort()
        }
        try producer.transact(1)
        return .refusedThenWorks
    }
}

package enum OffsetsRefused: ContractScript {
    package enum Outcome: Hashable, Sendable { case retriableThenAbortable, other(String) }

    package static let number = "T7"
    package static let title = "offsets: retriable, refused"
    package static let worlds: Set<WorldKind> = [.model, .mock]
    package static let needs: Set<Ability> = [.refusals]
    package static let allowed: Set<Outcome> = [.retriableThenAbortable]

    package static func run(in world: any ContractWorld) throws -> Outcome {
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
        try producer.producer.begin()
        try producer.produce(1)
        try producer.flush()
        try world.cause(.refused(api: .addOffsetsToTransaction, code: .coordinatorNotAvailable, times: 20))
        guard let first = send(300), first.isRetriable, !first.isFatal, !first.requiresAbort else {
            return .other("not retriable")
        }
        try world.cause(.calm)
        try producer.sendOffset(1, token)
        try producer.commit()
        try producer.producer.begin()
        try producer.produce(1)
        try producer.flush()
        try world.cause(.refused(api: .transactionalOffsetCommit, code: .illegalGeneration, times: 1))
        guard let second = send(60_000), second.requiresAbort, !second.isFatal else {
            return .other("not abortable")
        }
        try world.cause(.calm)
        try producer.abort()
        try producer.transact(1, offset: 1, token)
        return .retriableThenAbortable
    }
}

package enum OffsetsWithoutAnswer: ContractScript {
    package enum Outcome: Hashable, Sendable { case givenUp, other }

    package static let number = "T8"
    package static let title = "offsets without an answer: given up, no effect later"
    package static let worlds: Set<WorldKind> = [.model, .mock, .real]
    package static let needs: Set<Ability> = [.silence]
    package static let allowed: Set<Outcome> = [.givenUp]

    package static func run(in world: any ContractWorld) throws -> Outcome {
        let member = try world.loneMember()
        let token = try member.consumer.token()
        let producer = try ScriptedProducer(world, "one")
        try producer.producer.begin()
        try producer.produce(1)
        try producer.flush()
        try world.cause(.unanswered(api: .transactionalOffsetCommit, times: 0))
        var isGivenUp = false
        do throws(KafkaFault) {
            let budget = CallBudget(until: world.now + 100)
            try producer.producer.sendOffsets([PartitionOffset(partition: 0, offset: 1)], token, budget)
        } catch { isGivenUp = error.isFatal && producer.producer.fatalFault != nil }
        producer.producer.discard()
        try world.cause(.calm)
        try ScriptedProducer(world, "one").transact(1, offset: 1, token)
        return isGivenUp ? .givenUp : .other
    }
}

package enum RepeatsAreCounted: ContractScript {
    package enum Outcome: Hashable, Sendable { case all, missed(String) }

    package static let number = "T9"
    package static let title = "each of four repeated requests is counted"
    package static let worlds: Set<WorldKind> = [.model, .mock, .real]
    package static let needs: Set<Ability> = [.silence]
    package static let allowed: Set<Outcome> = [.all]

    package static func run(in world: any ContractWorld) throws -> Outcome {
        let member = try world.loneMember()
        let token = try member.consumer.token()
        let kinds: [APIKey] = [
            .addPartitionsToTransaction, .addOffsetsToTransaction, .transactionalOffsetCommit, .endTransaction,
        ]
        for kind in kinds {
            let producer = try ScriptedProducer(world, "one")
            try producer.transact(1, offset: 1, token)
            guard producer.producer.unanswered == UnansweredRequests() else { return .missed("none is repeated") }
            try world.cause(.unanswered(api: kind, times: 1))
            try producer.transact(1, offset: 1, token)
            try world.cause(.calm)
            let unanswered = producer.producer.unanswered
            guard unanswered.ends + unanswered.additions > 0 else { return .missed("\(kind)") }
            producer.producer.discard()
        }
        return .all
    }
}

package enum OvertakenBatch: ContractScript {
    package enum Outcome: Hashable, Sendable {
        case withoutOffset
        /// The machine was too slow: the second batch followed the first one's repeat.
        case inOrder
        /// The library gives the transaction up, and drops what is queued.
        case failed
        case otherwise
    }

    package static let number = "T11"
    package static let title = "a batch that overtook a refused one has no offset"
    package static let dependsOnMachine = true
    package static let worlds: Set<WorldKind> = [.model, .mock]
    package static let needs: Set<Ability> = [.refusals]
    package static let allowed: Set<Outcome> = [.withoutOffset, .inOrder, .failed]

    package static func run(in world: any ContractWorld) throws -> Outcome {
        let producer = try ScriptedProducer(world, "one")
        try producer.producer.begin()
        // Connects; the other partition's state stays empty.
        try producer.produce(1, partition: 2)
        try producer.flush()
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
        if deliveries.withoutOffset > 0 { return .withoutOffset }
        if deliveries.failed > 0 { return .failed }
        return deliveries.acknowledged == 2 ? .inOrder : .otherwise
    }
}

package enum FullQueue: ContractScript {
    package enum Outcome: Hashable, Sendable { case fewerAndNoneLost, neverFull, lost }

    package static let number = "T12"
    package static let title = "a full queue takes fewer and drops none"
    package static let worlds: Set<WorldKind> = [.model, .mock]
    /// Some seed never fills it.
    package static let allowed: Set<Outcome> = [.fewerAndNoneLost, .neverFull]

    package static func run(in world: any ContractWorld) throws -> Outcome {
        let producer = try ScriptedProducer(world, "one", ProducerSettings(queue: 10))
        try producer.producer.begin()
        producer.producer.forgetDeliveries()
        let wasFull = try producer.produce(100)
        try producer.flush()
        let deliveries = producer.producer.deliveries
        try producer.commit()
        guard wasFull else { return .neverFull }
        return deliveries.acknowledged == 100 && deliveries.failed == 0 ? .fewerAndNoneLost : .lost
    }
}

package enum FlushInPart: ContractScript {
    package enum Outcome: Hashable, Sendable { case inTimeThenLater, neverLate, lost }

    package static let number = "T13"
    package static let title = "a flush in time, in part, never"
    package static let worlds: Set<WorldKind> = [.model, .mock, .real]
    package static let allowed: Set<Outcome> = [.inTimeThenLater]

    package static func run(in world: any ContractWorld) throws -> Outcome {
        let producer = try ScriptedProducer(world, "one")
        try producer.producer.begin()
        producer.producer.forgetDeliveries()
        try producer.produce(5)
        try producer.flush()
        try world.cause(.away)
        try producer.produce(5)
        guard try !producer.producer.flush(limit: 200) else { return .neverLate }
        try world.cause(.back)
        try producer.flush()
        let deliveries = producer.producer.deliveries
        try producer.commit()
        return deliveries.acknowledged == 10 && deliveries.failed == 0 ? .inTimeThenLater : .lost
    }
}

package enum DiscardedRecords: ContractScript {
    package enum Outcome: Hashable, Sendable { case invisible, visible }

    package static let number = "T14"
    package static let title = "a discarded producer's records stay invisible"
    package static let worlds: Set<WorldKind> = [.model, .real]
    package static let needs: Set<Ability> = [.transactions]
    package static let allowed: Set<Outcome> = [.invisible]

    package static func run(in world: any ContractWorld) throws -> Outcome {
        let first = try ScriptedProducer(world, "one")
        try first.producer.begin()
        try first.produce(3)
        first.producer.discard()
        try ScriptedProducer(world, "one").transact(2)
        try world.during(milliseconds: 3_000) {}
        return try world.visibleLedger(awaiting: 2) == 2 ? .invisible : .visible
    }
}

package enum OldToken: ContractScript {
    package enum Outcome: Hashable, Sendable { case refused, accepted }

    package static let number = "G8"
    package static let title = "an old token is refused after a rebalance"
    package static let worlds: Set<WorldKind> = [.model, .real]
    package static let needs: Set<Ability> = [.transactions, .fencing]
    package static let allowed: Set<Outcome> = [.refused]

    package static func run(in world: any ContractWorld) throws -> Outcome {
        let first = try world.loneMember()
        let old = try first.consumer.token()
        let second = try world.member("two")
        try world.poll([first, second], until: "the partitions are shared") {
            first.assignments == 2 && second.assigned?.isEmpty == false && first.assigned?.isEmpty == false
        }
        let producer = try ScriptedProducer(world, "one")
        try producer.producer.begin()
        try producer.produce(1)
        try producer.flush()
        do { try producer.sendOffset(1, old) } catch let fault as KafkaFault {
            try producer.abort()
            try producer.transact(1, offset: 1, first.consumer.token())
            return fault.requiresAbort && !fault.isFatal ? .refused : .accepted
        }
        return .accepted
    }
}

package enum EndsIncludeOpen: ContractScript {
    package enum Outcome: Hashable, Sendable { case ends(Int64, afterMove: Int64), none }

    package static let number = "Q1"
    package static let title = "ends include open transactions; a new leader's"
    package static let worlds: Set<WorldKind> = [.model, .mock, .real]
    package static let allowed: Set<Outcome> = [.ends(5, afterMove: 5)]

    package static func run(in world: any ContractWorld) throws -> Outcome {
        try world.publish(3, to: 0, of: .ledger)
        let queries = try world.process("one", isStatic: false).queries
        let producer = try ScriptedProducer(world, "one")
        try producer.producer.begin()
        try producer.produce(2)
        try producer.flush()
        func end() throws -> Int64? {
            guard case .success(.ends(let ledger, _, _)) = try world.answer(queries, .ends([0], again: [])) else {
                return nil
            }
            return ledger[0]?.high
        }
        func answered(by leader: String) throws -> Int64? {
            var found: Int64?
            try world.until("the \(leader) leader answers", progress: { 0 }) {
                found = try end()
                return found != nil
            }
            return found
        }
        let first = try answered(by: "first")
        try world.cause(.leaderMoves(0))
        let second = try answered(by: "new")
        try producer.abort()
        guard let first, let second else { return .none }
        return .ends(first, afterMove: second)
    }
}

package enum ReadingPastOpen: ContractScript {
    package enum Outcome: Hashable, Sendable { case waitsThenEnds, early, wrong }

    package static let number = "R1"
    package static let title = "reading to the high watermark past an open transaction"
    package static let worlds: Set<WorldKind> = [.model, .real]
    package static let needs: Set<Ability> = [.transactions]
    package static let allowed: Set<Outcome> = [.waitsThenEnds]

    package static func run(in world: any ContractWorld) throws -> Outcome {
        try world.publish(3, to: 0, of: .ledger)
        let producer = try ScriptedProducer(world, "one")
        try producer.producer.begin()
        try producer.produce(2)
        try producer.flush()
        let reader = try world.process("reader", isStatic: false).makeReader()
        try reader.start([PartitionOffset(partition: 0, offset: PartitionOffset.beginning)])
        var count = 0
        try world.until("the first records come", progress: { count }) {
            count += try reader.poll(most: 100, waiting: 20).offsets.count
            return count >= 3
        }
        try world.during(milliseconds: 1_000) { count += try reader.poll(most: 100, waiting: 20).offsets.count }
        guard count == 3, reader.position(of: 0).map({ $0 < 5 }) ?? true else { return .early }
        try producer.abort()
        // The aborted records and the marker give no record, and the position passes them.
        try world.until("the end is reached", progress: { count }) {
            count += try reader.poll(most: 100, waiting: 20).offsets.count
            return reader.position(of: 0).map { $0 >= 5 } ?? false
        }
        reader.discard()
        return count == 3 ? .waitsThenEnds : .wrong
    }
}
