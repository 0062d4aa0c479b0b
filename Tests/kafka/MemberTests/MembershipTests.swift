import KafkaPorts
import Testing

@testable import Member

@Suite("A member's place in its group")
struct MembershipTests {
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

    @Test(arguments: Membership.Event.allCases.indices)
    func `every state takes every event as it is drawn`(row: Int) {
        Self.table.expectRow(row, Membership.State.allCases, Membership.Event.allCases, Membership.cell)
    }

    @Test func `each announcement has a number of its own, and the token outlives the assignment until it is released`()
    {
        var membership = Membership()
        for round in 1...2 {
            membership.token = TestToken()
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
