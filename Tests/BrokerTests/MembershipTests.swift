import Kafka
import KafkaKit
import Pipeline
import TestKit
import Testing

@testable import Broker

@Suite("A log's states take the steps that are drawn, and no other")
struct MembershipTests {
    /// Every pair of states, as "from > to", that may follow each other.
    private static func steps<State: DrawnState>(_ states: [(name: String, state: State)]) -> Set<String> {
        var steps: Set<String> = []
        for from in states {
            for to in states where from.state.mayBecome(to.state) { steps.insert("\(from.name) > \(to.name)") }
        }
        return steps
    }

    private static func withMember(_ body: (GroupMetadata) throws -> Void) throws {
        try withMock { fixture in
            let consumer = try fixture.consumer()
            try consumer.subscribe()
            let isAssigned = try consumer.poll { event in
                if case .change(.assigned) = event { true } else { false }
            }
            #expect(isAssigned)
            try body(consumer.groupMetadata())
            try consumer.unassign()
            try consumer.close()
        }
    }

    private static func states(_ member: GroupMetadata) -> [(name: String, state: Membership)] {
        [
            ("waiting", .waiting), ("arriving", .arriving(Arrival([0]), member)), ("owning", .owning(member)),
            ("revoked", .revoked(member)), ("expelled", .expelled),
        ]
    }

    @Test func `The membership`() throws {
        try Self.withMember { member in
            let drawn: Set = [
                "waiting > arriving", "arriving > owning", "owning > arriving",
                "arriving > revoked", "owning > revoked", "revoked > waiting", "expelled > waiting",
                // The group assigns again, or takes away what is not here yet.
                "arriving > arriving", "revoked > arriving", "waiting > revoked", "revoked > revoked",
                // The consumer is replaced.
                "waiting > expelled", "arriving > expelled", "owning > expelled", "revoked > expelled",
                "expelled > expelled",
            ]
            #expect(Self.steps(Self.states(member)) == drawn)
        }
    }

    @Test func `Partitions may go in every state, and batches are committed under the membership before`() throws {
        try Self.withMember { member in
            for (name, state) in Self.states(member) {
                #expect(state.mayBecome(state.leaving) && state.leaving.isLeaving, "\(name)")
                #expect(state.leaving.metadata === state.metadata, "\(name)")
                #expect((state.metadata == nil) == ["waiting", "expelled"].contains(name), "\(name)")
            }
        }
    }

    @Test func `An assignment's questions come in their order, and each may be asked again`() {
        let states: [(name: String, state: Arrival.Step)] = [
            ("answering", .answering), ("checking", .checking(nil)), ("preparing", .preparing(since: anyMoment)),
            ("asking", .asking(nil)),
        ]
        let drawn: Set = [
            "answering > checking", "checking > checking", "checking > preparing", "preparing > preparing",
            "preparing > asking", "asking > asking",
        ]
        #expect(Self.steps(states) == drawn)
        for (name, step) in states {
            let arrival = Arrival([0])
            for (_, state) in states.prefix(while: { $0.name != name }).dropFirst() { arrival.step = state }
            if name != "answering" { arrival.step = step }
            arrival.fail()
            #expect(!arrival.pause.isOver && arrival.isAnswered == (name != "answering"))
        }
    }

    @Test(.startsItself) func `A step that is not drawn traps`() async {
        await #expect(processExitsWith: .failure) { Membership.waiting.check(.waiting) }
        await #expect(processExitsWith: .failure) { Membership.expelled.check(.arriving(Arrival([0]), nil)) }
        await #expect(processExitsWith: .failure) { Arrival([0]).step = .asking(nil) }
    }
}
