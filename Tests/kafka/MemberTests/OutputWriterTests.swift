import KafkaPorts
import Pipeline
import Streams
import Testing

@testable import Member

@Suite("Output writer")
struct OutputWriterTests {
    // MARK: - Taking over

    @Test func `taking over waits in slices, and says every five seconds that it takes long`() {
        let bench = WriterBench { $0.script[.initTransactions] = Array(repeating: .again, count: 50) }
        let outcome = bench.run(.takeOver([:]), step: 250)
        guard case .tookOver = outcome else { Issue.record("\(outcome)"); return }
        // A try and a pause, 250 ms each here.
        #expect(bench.producer.calls.prefix(4) == ["init 250", "serve 20", "init 250", "serve 20"])
        #expect(bench.producer.calls.count == 101)
        #expect(bench.reports.count == 4)
        for case .stillTakingOver(let fault) in bench.reports { #expect(fault.message == "no answer yet") }
        #expect(bench.producers.count == 1)
    }

    @Test func `the first producer opens its connections, once, and where the topics are known`() {
        let bench = WriterBench()
        bench.run(.takeOver([:]))
        #expect(bench.producer.takeCalls() == ["init 250"])
        bench.run(.takeOver(["results": 4]))
        #expect(bench.producer.takeCalls() == [], "there is a producer")
        for calls in [["init 250", "connect 250"], ["init 250"]] {
            bench.producer.fatalFault = KafkaFault(.fenced, "fenced")
            #expect(bench.run(.abort).isUnknown == true)
            #expect(bench.producer.isDiscarded)
            bench.run(.takeOver([:]))
            #expect(bench.producer.takeCalls() == calls)
        }
    }

    @Test func `a producer whose files were renewed is replaced when the id is taken over, and not before`() {
        let bench = WriterBench.ready()
        bench.producer.isOutdated = true
        bench.run(.write(bench.batch()))
        #expect(bench.producers.count == 1 && !bench.producer.isDiscarded)
        bench.run(.takeOver([:]))
        #expect(bench.producers.count == 2 && bench.producers[0].isDiscarded)
        #expect(bench.producer.takeCalls() == ["init 250"])
        bench.run(.takeOver([:]))
        #expect(bench.producers.count == 2)
    }

    @Test func `a fault that may pass, and is no time-out, is the member's to ride out`() {
        let bench = WriterBench { $0.faults[.initTransactions] = KafkaFault(.notCoordinator, "moved") }
        let fault = bench.run(.takeOver([:])).fault
        #expect(fault?.message == "moved" && fault?.isRetriable == true && fault?.isFatal == false)
        bench.run(.takeOver([:]))
        #expect(bench.producers.count == 1 && bench.producer.calls == ["init 250", "init 250"])
    }

    @Test func `a transaction time-out above the broker's is the configuration's fault`() {
        let bench = WriterBench { $0.faults[.initTransactions] = KafkaFault(.invalidTransactionTimeout, "refused") }
        let fault = bench.run(.takeOver([:])).fault
        #expect(fault?.isFatal == true && fault?.requiresAbort == false && bench.producer.isDiscarded)
        let sentence =
            "refused: transaction.timeout.ms in kafka.properties is above the broker's "
            + "transaction.max.timeout.ms; lower it"
        #expect(fault?.message == sentence)
    }

    @Test func `a client that cannot be made is the fault of whoever asks for it`() {
        for job in [WriterJob.takeOver([:]), .write(WriterBench().batch())] {
            let settings = OutputWriter.Settings(delivery: .transaction, transactionalID: "id", isStaticMember: false)
            let writer = OutputWriter(settings) { () throws(KafkaFault) in throw .invalid("no such property") }
            writer.accept(job, at: Moment(milliseconds: 0))
            guard case .done(let outcome) = writer.step(at: Moment(milliseconds: 0)) else { continue }
            #expect(outcome.fault == .invalid("no such property") && writer.state == .none)
        }
    }

    @Test func `a client that this machine does not start now ends the output at once, and is made by the next one`() {
        let fault = KafkaFault(code: 0, name: "_CRIT_SYS_RESOURCE", message: "no thread", isRetriable: true)
        var tries = 0
        let settings = OutputWriter.Settings(delivery: .transaction, transactionalID: "id", isStaticMember: false)
        let writer = OutputWriter(settings) { () throws(KafkaFault) in
            tries += 1
            throw fault
        }
        let now = Moment(milliseconds: 0)
        for round in 1...2 {
            writer.accept(.write(WriterBench().batch()), at: now)
            guard case .done(let outcome) = writer.step(at: now) else { break }
            #expect(outcome.fault?.requiresAbort == true && outcome.fault?.isFatal == false && tries == round)
            writer.accept(.abort, at: now)
            _ = writer.step(at: now)
        }
        #expect(tries == 2)
    }

    @Test(arguments: [(nil, 6_200), (1_000, 2_300)] as [(Int64?, Int64)])
    func `an output takes the id over by itself, for five seconds at most, and the next take-over goes on`(
        hurry: Int64?,
        end: Int64
    ) {
        let bench = WriterBench { $0.script[.initTransactions] = Array(repeating: .again, count: 100) }
        let batch = bench.batch()
        if let hurry { batch.budget.shorten(to: bench.now + hurry) }
        let fault = bench.run(.write(batch), step: 100).fault
        #expect(fault?.message == "no answer yet" && fault?.requiresAbort == true && fault?.isFatal == false)
        #expect(bench.now.milliseconds <= end)
        #expect(bench.run(.abort).isUnknown == true)
        bench.producer.script = [:]
        _ = bench.run(.takeOver([:]))
        #expect(bench.producers.count == 1 && !bench.producer.isDiscarded)
        #expect(bench.run(.write(bench.batch())).isWritten)
    }

    // MARK: - Writing

    @Test func `a transaction's calls come in one order, each with its limit`() {
        let bench = WriterBench.ready()
        bench.producer.onFlush = {
            $0.deliveries.lastLedgerOffsets = [0: 4, 1: 9]
            $0.deliveries.ledgerTime = 1_795_000_000_000
        }
        let outcome = bench.run(.write(bench.batch()), step: 1_000)
        guard case .written(let ends, let share, let offsetsAreDue, let time) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(bench.producer.calls == ["begin", "produce 4", "flush 500", "offsets", "end 500"])
        #expect(ends == [0: 5, 1: 10] && !offsetsAreDue && time == 1_795_000_000_000)
        #expect(share == 5.0 / 30)
    }

    /// The kinds of the ledger's records that were produced.
    private func kinds(_ bench: WriterBench) -> [LedgerCodec.Kind] {
        bench.producer.produced.compactMap { $0.key.flatMap(LedgerCodec.kind(of:)) }
    }

    @Test(
        arguments: [
            ([.ban, .key, .mark], [.key, .ban, .mark], "the key's record before its ban"),
            ([.mark, .key, .ban, .mark], [.mark, .key, .ban, .mark], "the first mark before all"),
            ([.key, .mark, .challenge], [.key, .mark, .challenge], "what is forgotten behind the mark"),
            ([.mark, .ban, .key, .mark, .token], [.mark, .key, .ban, .mark, .token], "all of them"),
        ] as [([LedgerCodec.Kind], [LedgerCodec.Kind], String)]
    )
    func `at least once a ledger's records follow once those before them have arrived`(
        batch: [LedgerCodec.Kind],
        written: [LedgerCodec.Kind],
        claim: String
    ) {
        // Two partitions, so that each part holds two records.
        let records = batch.flatMap { kind in [0, 1].map { OutboundRecord.ledger(kind, $0) } }
        let bench = WriterBench(.atLeastOnce) { $0.onFlush = { $0.deliveries.lastLedgerOffsets = [0: 4] } }
        let outcome = bench.run(.write(bench.batch { $0.records = records }))
        guard case .written(let ends, _, let offsetsAreDue, _) = outcome else { Issue.record("\(outcome)"); return }
        #expect(ends == [:] && offsetsAreDue, "records of others may lie between ours")
        #expect(kinds(bench) == written.flatMap { [$0, $0] }, "\(claim)")
        let produced = bench.producer.calls.filter { $0.hasPrefix("produce") }
        #expect(produced == ["produce 0"] + written.map { _ in "produce 2" }, "each waits: \(claim)")
        let failing = WriterBench(.atLeastOnce) {
            $0.onFlush = { if !$0.produced.isEmpty { $0.deliveries.failed = 1 } }
        }
        #expect(failing.run(.write(bench.batch { $0.records = records })).fault != nil)
        #expect(kinds(failing) == [written[0], written[0]], "nothing follows a part that failed")
    }

    @Test func `a full queue waits for deliveries, and a last slice is as long as the time left`() {
        let bench = WriterBench.ready()
        bench.producer.script = [.produce: [.partly], .flush: [.partly, .partly]]
        let batch = bench.batch()
        batch.budget.shorten(to: bench.now + 1_000)
        #expect(bench.run(.write(batch), step: 100).isWritten)
        let produced = ["begin", "produce 4", "serve 20", "produce 2"]
        #expect(bench.producer.calls == produced + ["flush 500", "flush 500", "flush 400", "offsets", "end 200"])
    }

    @Test func `a call that the library asks to repeat is repeated after a pause`() {
        let bench = WriterBench.ready()
        bench.producer.script = [.offsets: [.again, .again], .end: [.again]]
        #expect(bench.run(.write(bench.batch())).isWritten)
        let offsets = ["offsets", "serve 20", "offsets", "serve 20", "offsets"]
        let ends = ["end 500", "serve 20", "end 500"]
        #expect(bench.producer.calls == ["begin", "produce 4", "flush 500"] + offsets + ends)
    }

    @Test func `an output whose time is over names the share that was acknowledged`() {
        for delivery in Delivery.both {
            let bench = WriterBench.ready(delivery)
            bench.producer.script[.flush] = Array(repeating: .partly, count: 1_000)
            bench.producer.onFlush = { $0.deliveries.acknowledged = 1 }
            let fault = bench.run(.write(bench.batch()), step: 500).fault
            #expect(fault?.isTimeout == true && fault?.requiresAbort == true && fault?.acknowledgedShare == 0.25)
            #expect((31_000...32_000).contains(bench.now.milliseconds))
        }
    }

    @Test func `at least once, a last call finds out what is wrong after the time is over`() {
        let bench = WriterBench.ready(.atLeastOnce)
        bench.producer.script = [.produce: [.partly, .partly, .partly, .partly]]
        let batch = bench.batch()
        batch.budget.shorten(to: bench.now)
        let fault = bench.run(.write(batch)).fault
        #expect(fault?.isQueueFull == true && fault?.requiresAbort == true && fault?.isFatal == false)
        #expect(bench.producer.calls == ["produce 2"])
        // What needs no waiting is done all the same.
        bench.run(.abort)
        bench.producer.script = [:]
        #expect(bench.run(.write(batch)).isWritten)
    }

    @Test(arguments: Delivery.both)
    func `after a loss nothing that counts is sent`(delivery: Delivery) {
        let bench = WriterBench.ready(delivery)
        let batch = bench.batch()
        bench.producer.onFlush = { _ in batch.budget.noteLost() }
        let outcome = bench.run(.write(batch))
        #expect(outcome.fault?.message == "the assignment was lost" && outcome.fault?.requiresAbort == true)
        #expect(!bench.producer.calls.contains("offsets"))
        #expect(bench.producer.produced.count == (delivery == .transaction ? 4 : 2))
    }

    @Test func `a loss is seen before offsets are sent once more`() {
        let bench = WriterBench.ready()
        let batch = bench.batch()
        bench.producer.script[.offsets] = [.again]
        bench.writer.accept(.write(batch), at: bench.now)
        var outcome: WriterOutcome?
        while outcome == nil {
            outcome = bench.step()
            if bench.producer.calls.contains("offsets") { batch.budget.noteLost() }
        }
        #expect(outcome?.fault?.message == "the assignment was lost")
        #expect(bench.producer.calls.count { $0 == "offsets" } == 1)
    }

    private static let cut =
        "the ledger topic's partition 1 ends before the offset already read: truncated or recreated"

    @Test(arguments: Delivery.both)
    func `an output that fails for another reason says that its ledger was cut`(delivery: Delivery) {
        let bench = WriterBench.ready(delivery)
        bench.producer.onFlush = {
            $0.deliveries.firstLedgerOffsets = [0: 5, 1: 3]
            ($0.deliveries.firstFault, $0.deliveries.failed) = (.stale("a record is refused"), 1)
        }
        let outcome = bench.run(.write(bench.batch { $0.knownLedgerEnds = [0: 5, 1: 4, 2: 9] }))
        #expect(outcome.fault?.message == "a record is refused" && outcome.cutLedgers == [1])
        #expect(bench.run(.abort).isUnknown == true)
    }

    @Test(arguments: Delivery.both)
    func `what arrives while the abort waits for it says that its ledger was cut`(delivery: Delivery) {
        let bench = WriterBench.ready(delivery)
        bench.producer.onFlush = {
            ($0.deliveries.firstFault, $0.deliveries.failed, $0.outstanding) = (.stale("a record is refused"), 1, 1)
        }
        #expect(bench.run(.write(bench.batch { $0.knownLedgerEnds = [1: 4] })).cutLedgers == [])
        bench.producer.onFlush = { ($0.deliveries.firstLedgerOffsets, $0.outstanding) = ([1: 3], 0) }
        let outcome = bench.run(.abort)
        #expect(outcome.isUnknown == true && outcome.cutLedgers == [1])
    }

    @Test func `at least once a cut ledger forgets its mark, and own records count as known`() throws {
        let bench = WriterBench.ready(.atLeastOnce)
        bench.producer.onFlush = {
            ($0.deliveries.firstLedgerOffsets, $0.deliveries.lastLedgerOffsets) = ([1: 3], [1: 8])
        }
        #expect(bench.run(.write(bench.batch())).isWritten)
        _ = bench.producer.takeCalls()
        let outcome = bench.run(.write(bench.batch()))
        #expect(outcome.fault?.message == Self.cut && outcome.cutLedgers == [1])
        #expect(bench.producer.calls.suffix(2) == ["produce 1", "flush 500"])
        let mark = try #require(bench.producer.produced.last)
        #expect(mark.stream == .ledger && mark.partition == 1 && mark.value == nil)
        #expect(mark.key == LedgerCodec.encode(.markForgotten).key)
        #expect(bench.run(.abort).isUnknown == true)
        #expect(bench.run(.write(bench.batch())).isWritten, "the old end is forgotten")
    }

    @Test(arguments: Delivery.both)
    func `a record without a topic ends the member, one that is not taken ends the output`(delivery: Delivery) {
        let bench = WriterBench.ready(delivery)
        let tooLarge = KafkaFault(.msgSizeTooLarge, "too large")
        bench.producer.faults[.produce] = tooLarge
        let fault = bench.run(.write(bench.batch())).fault
        #expect(fault?.isRecordFault == true && fault?.requiresAbort == true && fault?.isFatal == false)
        bench.run(.abort)
        bench.producer.faults[.produce] = .fatal("no topic is set for events")
        #expect(bench.run(.write(bench.batch())).fault == .fatal("no topic is set for events"))
    }

    @Test func `a refusal is explained`() {
        let bench = WriterBench.ready()
        bench.producer.script[.offsets] = [.refused]
        let fault = bench.run(.write(bench.batch())).fault
        #expect(fault?.message == "no right: explained" && fault?.isFatal == true)
    }
}
