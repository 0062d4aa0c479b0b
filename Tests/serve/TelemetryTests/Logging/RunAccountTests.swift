import Pipeline
import Testing

@testable import Telemetry

@Suite("run's last line")
struct RunAccountTests {
    @Test func `an empty tally is printed as zeros`() {
        #expect(
            RunAccount.line(LoopTally())
                == "0 requests: 0 accepted, 0 refused, 0 deferred, 0 dead letters; 0 commits, 0 aborts"
        )
    }

    @Test func `the line has duplicates, deferred requests and every reason, the most frequent first`() {
        var tally = LoopTally()
        (tally.requests, tally.accepted, tally.duplicates, tally.deferred) = (3_010, 3_000, 2, 1)
        tally.refused = ["unknown-key": 1, "counter-not-greater": 5, "chain": 1]
        tally.deadLetters = ["not-json": 2]
        (tally.batches, tally.aborts) = (4, 1)
        #expect(
            RunAccount.line(tally)
                == "3,010 requests: 3,000 accepted (2 of them duplicates), "
                + "7 refused (counter-not-greater 5, chain 1, unknown-key 1), 1 deferred, 2 dead letters (not-json 2); "
                + "4 commits, 1 abort"
        )
    }
}
