import KafkaPorts
import Testing

@testable import Member

@Suite("Output writer: aborts and the end")
struct OutputWriterAbortTests {
    /// A writer whose output has failed, with a transaction that may be aborted.
    private func failed(
        _ delivery: Delivery = .transaction,
        change: (inout OutputWriter.Settings) -> Void = { _ in }
    ) -> WriterBench {
        let bench = WriterBench.ready(delivery, change: change)
        bench.producer.script[delivery == .transaction ? .offsets : .flush] = [.abortable]
        bench.run(.write(bench.batch()))
        _ = bench.producer.takeCalls()
        return bench
    }

    @Test func `nothing is aborted where no output has begun`() {
        let bench = WriterBench()
        #expect(bench.run(.abort).isUnknown == true, "without a producer the broker is asked")
        bench.run(.takeOver([:]))
        _ = bench.producer.takeCalls()
        #expect(bench.run(.abort).isUnknown == false)
        #expect(bench.producer.calls == [])
        bench.producer.fatalFault = KafkaFault(.fenced, "fenced")
        #expect(bench.run(.abort).isUnknown == true && bench.producer.isDiscarded)
    }

    @Test func `a request that nobody answers is waited for twenty times, or a second`() {
        for (milliseconds, waits) in [(1, 20), (100, 10)] as [(Int64, Int)] {
            let bench = failed()
            bench.producer.unanswered.additions = 1
            #expect(bench.run(.abort, step: milliseconds).isUnknown == true)
            #expect(bench.producer.calls == Array(repeating: "serve 50", count: waits) + ["discard"])
        }
    }

    @Test func `records that arrive are waited for, up to a second`() {
        let bench = failed()
        bench.producer.outstanding = 1_000
        bench.producer.onFlush = { $0.outstanding -= 1 }
        #expect(bench.run(.abort, step: 10).isUnknown == true)
        #expect(bench.producer.calls == Array(repeating: "flush 50", count: 100) + ["discard"])
    }

    @Test func `what waiting does not settle is given up at once`() {
        var bench = failed()
        (bench.producer.deliveries.failed, bench.producer.deliveries.unsent) = (1, 1)
        #expect(bench.run(.abort).isUnknown == true)
        #expect(bench.producer.calls == ["discard"])
        bench = .ready()
        // Offsets without a final answer when the time is over.
        bench.producer.script[.offsets] = Array(repeating: .again, count: 1_000)
        #expect(bench.run(.write(bench.batch()), step: 500).fault?.isTimeout == true)
        _ = bench.producer.takeCalls()
        #expect(bench.run(.abort).isUnknown == true)
        #expect(bench.producer.calls == ["discard"])
    }

    @Test func `an abort is repeated for two seconds in all`() {
        let bench = failed()
        bench.producer.script[.abort] = [.again, .again]
        #expect(bench.run(.abort).isUnknown == false)
        #expect(bench.producer.calls == ["abort 250", "serve 20", "abort 250", "serve 20", "abort 250"])
        let other = failed()
        other.producer.script[.abort] = Array(repeating: .again, count: 100)
        #expect(other.run(.abort, step: 100).isUnknown == true)
        #expect(other.now.milliseconds <= 1_000 + 100 * 8 + 2_300)
        #expect(other.producer.calls.suffix(3) == ["abort 200", "serve 20", "discard"])
    }

    @Test func `a broker that drops a transaction's offsets gets them from the member`() {
        let bench = WriterBench.ready { $0.commitsOffsetsAside = true }
        let outcome = bench.run(.write(bench.batch()))
        guard case .written(_, _, offsetsAreDue: true, _) = outcome else { Issue.record("\(outcome)"); return }
        // Whether they were committed is the member's to know.
        #expect(bench.run(.abort).isUnknown == false && !bench.producer.isDiscarded)
    }

    @Test func `at least once an abort waits for outputs, and always ends unknown`() {
        let bench = failed(.atLeastOnce)
        bench.producer.outstanding = 2
        bench.producer.onFlush = { $0.outstanding -= 1 }
        #expect(bench.run(.abort).isUnknown == true)
        #expect(bench.producer.calls == ["flush 250", "flush 250"])
        #expect(bench.run(.abort).isUnknown == true, "of no output as well")
        #expect(bench.run(.write(bench.batch())).isWritten && bench.producers.count == 1)
    }

    @Test func `at least once a producer that cannot finish is replaced`() {
        let stuck = failed(.atLeastOnce)
        stuck.producer.outstanding = 1
        #expect(stuck.run(.abort, step: 250).isUnknown == true)
        #expect(stuck.producer.calls == Array(repeating: "flush 250", count: 8) + ["discard"])
        let broken = failed(.atLeastOnce)
        broken.producer.fatalFault = KafkaFault(code: 45, name: "OUT_OF_ORDER", message: "out of order")
        #expect(broken.run(.abort).isUnknown == true)
        #expect(broken.producer.calls == ["discard"])
        #expect(broken.run(.write(broken.batch())).isWritten && broken.producers.count == 2)
    }

    @Test func `closing drops a transaction, and lets outputs finish at least once`() {
        let bench = failed()
        bench.producer.outstanding = 1
        guard case .closed = bench.run(.close) else { Issue.record("not closed"); return }
        #expect(bench.producer.calls == ["discard"])
        let other = failed(.atLeastOnce)
        other.producer.outstanding = 2
        other.producer.onFlush = { $0.outstanding -= 1 }
        guard case .closed = other.run(.close) else { Issue.record("not closed"); return }
        #expect(other.producer.calls == ["flush 250", "flush 250", "discard"])
        guard case .closed = WriterBench().run(.close) else { Issue.record("not closed"); return }
    }
}
