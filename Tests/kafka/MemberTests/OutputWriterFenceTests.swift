import KafkaPorts
import Testing

@testable import Member

@Suite("Output writer: fencing and repeats")
struct OutputWriterFenceTests {
    @Test(arguments: [false, true])
    func `fenced too often within a minute means a second process`(isStatic: Bool) {
        let bench = WriterBench(isStatic: isStatic)
        let survived = isStatic ? 12 : 3
        for round in 1...survived + 1 {
            bench.run(.takeOver([:]))
            bench.producer.script[.end] = [.fenced]
            let fault = bench.run(.write(bench.batch())).fault
            #expect(fault?.isFatal == (round > survived))
            if round > survived {
                let sentence =
                    "another process uses the transactional id group-one (fenced): give every instance of the group a "
                    + "name of its own with --instance"
                #expect(fault?.message == sentence)
            }
            #expect(bench.run(.abort).isUnknown == true)
        }
    }

    @Test func `an own request for the id without an answer excuses a fencing`() {
        let bench = WriterBench { $0.unanswered.inits = 1 }
        for _ in 1...8 {
            bench.run(.takeOver([:]))
            bench.producer.script[.end] = [.fenced]
            #expect(bench.run(.write(bench.batch())).fault?.isFatal == false)
            bench.run(.abort)
        }
    }

    @Test func `a transaction that was aborted with a repeat is known to be aborted`() {
        let bench = WriterBench.ready()
        bench.producer.script[.offsets] = [.abortable]
        bench.run(.write(bench.batch()))
        bench.producer.unanswered.ends = 1
        #expect(bench.run(.abort).isUnknown == false && bench.producer.isDiscarded)
    }

    @Test(arguments: [true, false])
    func `a producer with a copy on its way begins no other output`(isEnd: Bool) {
        let bench = WriterBench.ready()
        let first = bench.producer
        first.unanswered[keyPath: isEnd ? \UnansweredRequests.ends : \.additions] = 1
        #expect(bench.run(.write(bench.batch())).isWritten && bench.producers.count == 2)
        #expect(first.isDiscarded && !first.calls.contains("begin"))
    }
}
