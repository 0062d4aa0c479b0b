import KafkaPorts
import SimulationKit
import Streams
import Testing

/// A consumer between the broker's group and a member.
@Suite("A client's membership")
struct ClientConsumerTests {
    private static func settled(_ world: ClientWorld, _ names: [String]) throws -> [SimpleMember] {
        let members = try names.map { try SimpleMember(world, world.process($0)) }
        try SimpleMember.run(members, steps: 300)
        return members
    }

    @Test func `a lone member gets all partitions, once, and reads all of them`() throws {
        let world = ClientWorld()
        let member = try Self.settled(world, ["one"])[0]
        #expect(member.events == ["assigned [0, 1, 2]"])
        #expect(member.read == [0: [0, 1, 2, 3], 1: [0, 1, 2, 3], 2: [0, 1, 2, 3]])
        #expect(world.broker.violations.isEmpty)
    }

    @Test func `a second member joins: the first one's partitions are revoked, and shared`() throws {
        let world = ClientWorld()
        let one = try Self.settled(world, ["one"])[0]
        let two = try SimpleMember(world, world.process("two"))
        try SimpleMember.run([one, two], steps: 100)
        #expect(one.events == ["assigned [0, 1, 2]", "revoked [0, 1, 2]", "assigned [0, 1]"])
        #expect(two.events == ["assigned [2]"])
        try two.consumer.close(limit: 1_000)
        try SimpleMember.run([one], steps: 100)
        #expect(one.owned == [0, 1, 2])
        #expect(world.broker.violations.isEmpty)
    }

    @Test func `while an assignment is unanswered no revocation comes, and the group waits`() throws {
        let world = ClientWorld()
        let one = try SimpleMember(world, world.process("one"))
        one.answers = false
        try SimpleMember.run([one], steps: 50)
        let two = try SimpleMember(world, world.process("two"))
        try SimpleMember.run([one, two], steps: 1_600)
        #expect(one.events == ["assigned [0, 1, 2]"])
        #expect(two.events.isEmpty)
        #expect(world.broker.counts.counts[.revokeHidden] != nil)
    }

    @Test func `an expired session: the loss is known before its event, and the member joins again`() throws {
        let world = ClientWorld()
        var chances = FaultChances.none
        chances.client.lostBeforeEvent = 1
        let process = world.process("one", chances: chances)
        let one = try SimpleMember(world, process)
        try SimpleMember.run([one], steps: 50)
        let token = try one.consumer.token()
        world.pass(10_001, but: [process])
        #expect(one.consumer.isAssignmentLost)
        while case .record? = one.consumer.poll(waiting: 0) {}
        #expect(one.events.count == 1)
        try SimpleMember.run([one], steps: 200)
        #expect(one.events == ["assigned [0, 1, 2]", "lost [0, 1, 2]", "assigned [0, 1, 2]"])
        #expect(!one.consumer.isAssignmentLost)
        let producer = try world.producer(process)
        try producer.begin()
        #expect(throws: KafkaFault.self) {
            try producer.sendOffsets(
                [PartitionOffset(partition: 0, offset: 1)],
                token,
                CallBudget(until: process.now + 1_000)
            )
        }
        #expect(world.broker.violations.contains { $0.contains("lost") })
    }

    @Test func `two of one static name: the older one is told once, and its successor owns the partitions`() throws {
        let world = ClientWorld()
        let old = try SimpleMember(world, world.process("one", isStatic: true))
        try SimpleMember.run([old], steps: 50)
        let new = try SimpleMember(world, world.process("one", isStatic: true))
        try SimpleMember.run([old, new], steps: 300)
        #expect(old.events.filter { $0 == "FENCED_INSTANCE_ID" }.count == 1)
        #expect(new.events == ["assigned [0, 1, 2]"])
        #expect(world.broker.counts.counts[.staticTakeover] == 1)
    }

    @Test func `a static member that returns in its session keeps its partitions`() throws {
        let world = ClientWorld()
        let process = world.process("one", isStatic: true)
        let one = try SimpleMember(world, process)
        try SimpleMember.run([one], steps: 50)
        try one.consumer.close(limit: 1_000)
        let generation = world.broker.group.generation
        let again = try SimpleMember(world, process)
        try SimpleMember.run([again], steps: 50)
        #expect(again.owned == [0, 1, 2])
        #expect(world.broker.group.generation == generation)
    }

    @Test func `nobody polls: the group goes on without the member, which joins again`() throws {
        let world = ClientWorld()
        let one = try Self.settled(world, ["one"])[0]
        world.pass(31_000)
        world.pass(31_000)
        try SimpleMember.run([one], steps: 200)
        #expect(one.events.contains("_MAX_POLL_EXCEEDED"))
        #expect(one.events.suffix(2) == ["lost [0, 1, 2]", "assigned [0, 1, 2]"])
    }

    @Test func `an offset commit is answered by an event, or refused once the group has moved on`() throws {
        let world = ClientWorld()
        let one = try Self.settled(world, ["one"])[0]
        _ = try one.consumer.commit([PartitionOffset(partition: 0, offset: 2)])
        try SimpleMember.run([one], steps: 50)
        #expect(one.commits == [nil])
        #expect(world.broker.stableOffsets([0]) == [0: 2])
        _ = world.broker.group.join(name: "two", instance: nil, at: world.broker.now)
        world.pass(31_000)
        #expect(world.broker.group.status(1) == .unknown)
    }

    @Test func `one time in a few an offset commit has no answer, and starts wait for it`() throws {
        let world = ClientWorld()
        var chances = FaultChances.none
        chances.client.offsetCommitUnanswered = 1
        let one = try SimpleMember(world, world.process("one", chances: chances))
        try SimpleMember.run([one], steps: 50)
        _ = try one.consumer.commit([PartitionOffset(partition: 0, offset: 0)])
        let before = one.read[0]?.count
        try one.consumer.assign(one.owned.map { PartitionOffset(partition: $0, offset: 0) })
        try SimpleMember.run([one], steps: 500)
        #expect(one.read[0]?.count == before)
        try SimpleMember.run([one], steps: 700)
        #expect(one.read[0]?.count == 8)
        #expect(one.commits.isEmpty)
    }
}
