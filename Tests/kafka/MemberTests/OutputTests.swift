import KafkaPorts
import Testing

@testable import Member

@Suite("An output as its member sees it")
struct OutputTests {
    private static let at = Moment(milliseconds: 7)
    private static let id = CommitID(3)

    private static let states: [Output.State] = [
        .idle, .writing, .committing(id, until: at), .ended, .failed(isInDoubt: true), .aborting(isInDoubt: true),
        .aborted,
    ]

    private static let events: [Output.Event] = [
        .write, .written, .offsetsAreDue(id, until: at), .failed(isInDoubt: false), .committed, .abort, .aborted,
        .taken,
    ]

    private static let table = StateTable(
        """
                      | idle     | writing    | committing | ended | failed   | aborting | aborted
        write         | writing  | ✗          | ✗          | ✗     | ✗        | ✗        | ✗
        written       | ✗        | ended      | ✗          | ✗     | ✗        | ✗        | ✗
        offsetsAreDue | ✗        | committing | ✗          | ✗     | ✗        | ✗        | ✗
        failed        | ✗        | failed     | failed     | ✗     | ✗        | ✗        | ✗
        committed     | ✗        | ✗          | ended      | ✗     | ✗        | ✗        | ✗
        abort         | aborting | ✗          | ✗          | ✗     | aborting | ·        | ·
        aborted       | ✗        | ✗          | ✗          | ✗     | ✗        | aborted  | ✗
        taken         | ✗        | ✗          | ✗          | idle  | ✗        | ✗        | idle
        """
    )

    @Test(arguments: events.indices)
    func `every state takes every event as it is drawn`(row: Int) {
        Self.table.expectRow(row, Self.states, Self.events, Output.cell)
    }

    @Test func `a doubt survives from the fault to the abort`() {
        for isInDoubt in [true, false] {
            let failed = Output.State.failed(isInDoubt: isInDoubt)
            #expect(Output.cell(failed, .abort) == .becomes(.aborting(isInDoubt: isInDoubt)))
        }
        #expect(Output.cell(.idle, .abort) == .becomes(.aborting(isInDoubt: false)))
    }
}
