import AppAttest
import Streams
import TestKit
import Testing

@testable import Pipeline

@Suite("The loop's states take the steps that are drawn, and no other")
struct LoopStateTests {
    /// Every pair of states, as "from > to", that may follow each other.
    private static func steps<State: DrawnState>(_ states: [(name: String, state: State)]) -> Set<String> {
        var steps: Set<String> = []
        for from in states {
            for to in states where from.state.mayBecome(to.state) { steps.insert("\(from.name) > \(to.name)") }
        }
        return steps
    }

    @Test func `the loop's phase`() {
        let drawn: Set = [
            "reading > ended", "ended > reading",
            "reading > aborting", "aborting > reading",
            "reading > stopping", "ended > stopping",
            "aborting > abandoned", "stopping > abandoned",
        ]
        #expect(Self.steps(LoopPhase.allCases.map { ("\($0)", $0) }) == drawn)
    }

    private static var assignments: [(name: String, state: AssignmentPhase)] {
        [
            ("settled", .settled),
            ("taking", .taking([0], of: Generation(1))),
            ("revoking", .revoking([0], until: nil)),
            ("losing", .losing([0])),
            ("restoring", .restoring(Restoration(partitions: [0], of: Generation(1)) { $0 })),
        ]
    }

    @Test func `the loop's assignment: a change comes at any time, and forgets a restore first`() {
        var drawn: Set = [
            "taking > restoring", "restoring > settled", "revoking > settled", "losing > settled",
        ]
        for name in ["settled", "taking", "revoking", "losing"] {
            drawn.formUnion(["\(name) > taking", "\(name) > revoking", "\(name) > losing"])
        }
        #expect(Self.steps(Self.assignments) == drawn)
    }

    @Test func `the polled records that are in no batch: pieces only become fewer`() {
        let pieces = {
            PendingRound.pieces(Array(repeating: [], count: $0)[...], of: Generation(0))
        }
        let states: [(name: String, state: PendingRound)] = [
            ("none", .none), ("doubted", .doubted(PollRound())), ("one", pieces(1)), ("two", pieces(2)),
        ]
        let drawn: Set = [
            "none > none", "none > doubted", "none > one", "none > two",
            "doubted > none", "doubted > doubted", "two > one", "two > none", "one > none",
        ]
        #expect(Self.steps(states) == drawn)
    }

    @Test func `the transaction's writing: one batch at a time is handed over, and its outcome is taken`() {
        let batches = (0..<2).map { Batch(number: $0, generation: Generation(0), now: nil) }
        let states: [(name: String, state: Writing)] = [
            ("none", .none), ("underWay 0", .underWay(batches[0])), ("underWay 1", .underWay(batches[1])),
        ]
        let drawn: Set = ["none > underWay 0", "underWay 0 > none", "none > underWay 1", "underWay 1 > none"]
        #expect(Self.steps(states) == drawn)
    }

    @Test func `a batch: each stage after the one before it, back to verifying and back before Admit`() {
        let drawn: Set = [
            "decoding > decoded", "decoded > verifying", "verifying > verified", "verified > encoding",
            "encoding > encoded", "encoded > committed",
            "verified > verifying", "encoding > verified",
        ]
        #expect(Self.steps(Batch.Stage.allCases.map { ("\($0)", $0) }) == drawn)
    }

    /// A batch that was verified, without records.
    private static func verified(engineIsStopped: Bool) -> Batch {
        let batch = Batch(number: 0, generation: Generation(0), now: nil)
        batch.add([DecodedGrain]())
        batch.beginVerifying(engineIsStopped: engineIsStopped)
        batch.add([[Finding]]())
        return batch
    }

    @Test(.startsItself) func `a batch is verified again only after the engine was stopped, and only once`() async {
        let batch = Self.verified(engineIsStopped: false)
        #expect(!batch.isInDoubt(engineIsStopped: false) && batch.isInDoubt(engineIsStopped: true))
        batch.beginVerifying(engineIsStopped: true)
        #expect(!batch.isInDoubt(engineIsStopped: true))
        batch.add([[Finding]]())
        #expect(!batch.isInDoubt(engineIsStopped: true))
        #expect(!Self.verified(engineIsStopped: true).isInDoubt(engineIsStopped: true))
        await #expect(processExitsWith: .failure) {
            Self.verified(engineIsStopped: false).beginVerifying(engineIsStopped: false)
        }
        await #expect(processExitsWith: .failure) {
            Self.verified(engineIsStopped: true).beginVerifying(engineIsStopped: true)
        }
        await #expect(processExitsWith: .failure) {
            Batch(number: 0, generation: Generation(0), now: nil).beginVerifying(engineIsStopped: true)
        }
    }

    @Test(.startsItself) func `a step that is not drawn traps`() async {
        await #expect(processExitsWith: .failure) { LoopPhase.abandoned.check(.reading) }
        await #expect(processExitsWith: .failure) { AssignmentPhase.settled.check(.settled) }
        await #expect(processExitsWith: .failure) {
            PendingRound.doubted(PollRound()).check(.pieces([], of: Generation(0)))
        }
        await #expect(processExitsWith: .failure) { Batch.Stage.encoding.check(.verifying) }
        await #expect(processExitsWith: .failure) { Batch.Stage.decoded.check(.verified) }
        await #expect(processExitsWith: .success) { LoopPhase.reading.check(.ended) }
    }
}
