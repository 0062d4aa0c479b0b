import KafkaPorts
import Testing

@testable import Member

@Suite("A member's place in its group")
struct MembershipTests {
    private final class Token: MemberToken {}

    private static let table = StateTable(
        """
                       | joining   | answering    | askingTopics | takingOver    | askingOffsets | owning       | leaving  | expelled
        assigned       | answering | answering    | answering    | answering     | answering     | answering    | ·        | ·
        answered       | ✗         | askingTopics | ✗            | ✗             | ✗             | ✗            | ✗        | ✗
        topicsKnown    | ✗         | ✗            | takingOver   | ✗             | ✗             | ✗            | ✗        | ✗
        tookOver       | ✗         | ✗            | ✗            | askingOffsets | ✗             | ✗            | ✗        | ✗
        offsetsKnown   | ✗         | ✗            | ✗            | ✗             | owning        | ✗            | ✗        | ✗
        takenOverAgain | ·         | ·            | askingTopics | askingTopics  | askingTopics  | askingTopics | ·        | ·
        gone           | leaving   | leaving      | leaving      | leaving       | leaving       | leaving      | leaving  | ·
        expelled       | expelled  | expelled     | expelled     | expelled      | expelled      | expelled     | expelled | expelled
        released       | ✗         | ✗            | ✗            | ✗             | ✗             | ✗            | joining  | joining
        """
    )

    @Test(arguments: Membership.Event.allCases)
    func `every state takes every event as it is drawn`(event: Membership.Event) throws {
        let row = try #require(Self.table.rows.first { $0.event == "\(event)" })
        #expect(Self.table.rows.count == Membership.Event.allCases.count)
        #expect(Self.table.states == Membership.State.allCases.map { "\($0)" })
        for (column, state) in Membership.State.allCases.enumerated() {
            let cell = StateTable.drawn(Membership.cell(state, event)) { "\($0)" }
            #expect(cell == row.cells[column], "\(event) in \(state)")
        }
    }

    @Test func `each announcement has a number of its own, and the token outlives the assignment until it is released`()
    {
        var membership = Membership()
        for round in 1...2 {
            membership.token = Token()
            for event in [Membership.Event.assigned, .answered, .topicsKnown, .tookOver, .offsetsKnown] {
                membership.take(event)
            }
            #expect(membership.generation == round)
            membership.take(.gone)
            #expect(membership.token != nil && membership.isLeaving)
            membership.take(.released)
            #expect(membership.token == nil && membership.state == .joining)
        }
    }

    @Test func `a loss is remembered until the next assignment`() {
        var membership = Membership()
        membership.take(.gone)
        membership.noteLost()
        #expect(membership.isLost)
        membership.take(.released)
        #expect(!membership.isLost)
    }
}
