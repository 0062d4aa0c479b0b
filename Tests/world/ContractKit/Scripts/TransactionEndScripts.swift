internal import KafkaPorts
internal import Streams

package enum AbortOfTransaction: ContractScript {
    package enum Outcome: Hashable, Sendable { case cleanThenUnsettled, shownAsSettled, visible }

    package static let number = "T3"
    package static let title = "abort: settled is clean; unsettled never, nor a commit"
    package static let worlds: Set<WorldKind> = [.model, .real]
    package static let needs: Set<Ability> = [.transactions, .silence]
    /// An abort of an unsettled transaction ends the process inside the library, so that no script may try it: that it is
    /// unsettled has to show.
    package static let allowed: Set<Outcome> = [.cleanThenUnsettled]

    package static func run(in world: any ContractWorld) throws -> Outcome {
        let first = try ScriptedProducer(world, "one")
        for _ in 0..<5 {
            try first.open(2)
            try first.abort()
        }
        try first.transact(1)
        try first.open(2)
        try world.cause(.unanswered(api: .addPartitionsToTransaction, times: 0))
        try first.produce(5, partition: 1)
        try world.during(milliseconds: 500) { first.producer.serve(limit: 20) }
        let producer = first.producer
        let state = TransactionGuard()
            .settlement(producer.deliveries, outstanding: producer.outstanding, producer.unanswered)
        guard state != .settled else { return .shownAsSettled }
        producer.discard()
        try world.cause(.calm)
        try ScriptedProducer(world, "one").transact(1)
        return try world.visibleLedger(awaiting: 2) == 2 ? .cleanThenUnsettled : .visible
    }
}

package enum TransactionTimeOut: ContractScript {
    package enum Outcome: Hashable, Sendable { case fencedThenWorks, notFenced, wrong }

    package static let number = "T5"
    package static let title = "past its time-out: fenced; the successor works"
    package static let worlds: Set<WorldKind> = [.model, .real]
    package static let needs: Set<Ability> = [.transactions, .fencing]
    package static let allowed: Set<Outcome> = [.fencedThenWorks]

    package static func run(in world: any ContractWorld) throws -> Outcome {
        try world.publish(5, to: 0, of: .requests)
        let member = try world.loneMember()
        try world.poll([member], until: "records come") { member.offsets(0).count == 5 }
        let first = try ScriptedProducer(world, "one", ProducerSettings(isHasty: true))
        try first.open(1)
        let reader = try world.process("reader", isStatic: false).makeReader()
        try reader.start([PartitionOffset(partition: 0, offset: PartitionOffset.beginning)])
        var count = 0
        try world.poll([member], until: "the broker ends the transaction") {
            count += try reader.poll(most: 100, waiting: 20).offsets.count
            return reader.position(of: 0) == 2
        }
        reader.discard()
        do {
            try first.sendOffset(5, member.consumer.token())
            return .notFenced
        } catch let fault as KafkaFault {
            guard fault.isFatal, fault.isFenced else { return .notFenced }
        }
        first.producer.discard()
        try ScriptedProducer(world, "one").transact(1, offset: 4, member.consumer.token())
        let isRight = try count == 0 && world.visibleLedger(awaiting: 1) == 1
        return try isRight && world.committedOffsets()[0].offset == 4 ? .fencedThenWorks : .wrong
    }
}

package enum LateCopy: ContractScript {
    package enum Effect: Hashable, Sendable { case commits, refused }

    package enum Outcome: Hashable, Sendable { case late(kept: Effect, afterInit: Effect), notRepeated }

    package static let number = "T10"
    package static let title = "a late copy after a new init is refused, before it not"
    package static let worlds: Set<WorldKind> = [.model, .real]
    package static let needs: Set<Ability> = [.transactions, .fencing, .frames]
    package static let allowed: Set<Outcome> = [.late(kept: .commits, afterInit: .refused)]

    package static func run(in world: any ContractWorld) throws -> Outcome {
        func repeated() throws -> ScriptedProducer {
            let producer = try ScriptedProducer(world, "one")
            try world.cause(.late(api: .endTransaction))
            try producer.transact(1)
            try world.cause(.calm)
            return producer
        }
        let kept = try repeated()
        guard kept.producer.unanswered.ends > 0 else { return .notRepeated }
        // Open, and nobody commits it.
        try kept.open(1)
        let first: Effect = try world.visibleLedger(awaiting: 2) == 2 ? .commits : .refused
        kept.producer.discard()
        let second = try repeated()
        guard second.producer.unanswered.ends > 0 else { return .notRepeated }
        second.producer.discard()
        let successor = try ScriptedProducer(world, "one")
        try successor.open(1)
        let before = first == .commits ? 3 : 2
        let last: Effect = try world.visibleLedger(awaiting: before) == before ? .refused : .commits
        try successor.commit()
        guard try world.visibleLedger(awaiting: before + 1) == before + 1 else { return .notRepeated }
        return .late(kept: first, afterInit: last)
    }
}
