import KafkaPorts
import Testing

@testable import Member

@Suite("A unit of output as its member sees it")
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
        let event = Self.events[row]
        #expect(Self.table.rows.count == Self.events.count && Self.table.states.count == Self.states.count)
        #expect(Self.table.rows[row].event == StateTable.name(event))
        for (column, state) in Self.states.enumerated() {
            #expect(Self.table.states[column] == StateTable.name(state))
            let cell = StateTable.drawn(Output.cell(state, event), StateTable.name)
            #expect(cell == Self.table.rows[row].cells[column], "\(event) in \(state)")
        }
    }

    @Test func `a doubt survives from the fault to the abort`() {
        for isInDoubt in [true, false] {
            let failed = Output.State.failed(isInDoubt: isInDoubt)
            #expect(Output.cell(failed, .abort) == .becomes(.aborting(isInDoubt: isInDoubt)))
        }
        #expect(Output.cell(.idle, .abort) == .becomes(.aborting(isInDoubt: false)))
    }
}
