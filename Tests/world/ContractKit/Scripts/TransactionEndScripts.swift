internal import BrokerKit
internal import KafkaPorts
internal import Streams

extension ContractScript {
    /// An abort of an unsettled transaction ends the process inside the library, so that no script may try it: that it is
    /// unsettled has to show.
    static let t3 = onReal(
        "T3: abort: settled is clean; unsettled never, nor a commit",
        ends: ["cleanThenUnsettled"]
    ) { world in
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
        guard state != .settled else { return "shownAsSettled" }
        producer.discard()
        try world.cause(.calm)
        try ScriptedProducer(world, "one").transact(1)
        return try world.visibleLedger(awaiting: 2) == 2 ? "cleanThenUnsettled" : "visible"
    }

    static let t5 = onReal("T5: past its time-out: fenced; the successor works", ends: ["fencedThenWorks"]) { world in
        let member = try world.loneMember(requests: 5)
        try world.poll([member], until: "records come") { member.offsets(0).count == 5 }
        let first = try ScriptedProducer(world, "one", ProducerSettings(isHasty: true))
        try first.open(1)
        let reader = try world.process("reader", isStatic: false).makeReader()
        try reader.start([world.starts[0]])
        var count = 0
        try world.poll([member], until: "the broker ends the transaction") {
            count += try reader.poll(most: 100, waiting: 20).offsets.count
            return reader.position(of: 0) == 2
        }
        reader.discard()
        let fault = try world.failure { try first.sendOffset(5, member.consumer.token()) }
        guard let fault, fault.isFatal, fault.isFenced else { return "notFenced" }
        first.producer.discard()
        try ScriptedProducer(world, "one").transact(1, offset: 4, member.consumer.token())
        let isRight = try count == 0 && world.visibleLedger(awaiting: 1) == 1
        return try isRight && world.committedOffsets()[0].offset == 4 ? "fencedThenWorks" : "wrong"
    }

    /// A producer that goes on after a repeated request is hit by the request's late copy; the next owner of its id is not.
    static let t10 = onReal(
        "T10: a late copy after a new init is refused, before it not",
        ends: ["late(kept: commits, afterInit: refused)"]
    ) { world in
        func repeated() throws -> ScriptedProducer {
            let producer = try ScriptedProducer(world, "one")
            try world.cause(.late(api: .endTransaction))
            try producer.transact(1)
            try world.cause(.calm)
            return producer
        }
        let kept = try repeated()
        guard kept.producer.unanswered.ends > 0 else { return "notRepeated" }
        // Open, and nobody commits it.
        try kept.open(1)
        let first = try world.visibleLedger(awaiting: 2) == 2 ? "commits" : "refused"
        kept.producer.discard()
        let second = try repeated()
        guard second.producer.unanswered.ends > 0 else { return "notRepeated" }
        second.producer.discard()
        let successor = try ScriptedProducer(world, "one")
        try successor.open(1)
        let before = first == "commits" ? 3 : 2
        let last = try world.visibleLedger(awaiting: before) == before ? "refused" : "commits"
        try successor.commit()
        guard try world.visibleLedger(awaiting: before + 1) == before + 1 else { return "notRepeated" }
        return "late(kept: \(first), afterInit: \(last))"
    }
}
