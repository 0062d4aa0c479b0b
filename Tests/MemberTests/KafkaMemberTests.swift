import KafkaPorts
import Streams
import Testing

@testable import Member

/// What a member does where no table holds it: between the group, the writer and the brokers.
@Suite("A member of the group")
struct KafkaMemberTests {
    private static func isForbidden(_ bench: MemberBench) -> Bool {
        do { try bench.steps(1) } catch { return (error as? KafkaFault)?.isRefusal == true }
        return false
    }

    /// A member whose start is being committed.
    private static func committing() throws -> MemberBench {
        let bench = try MemberBench(.atLeastOnce)
        try bench.own()
        bench.member.partitions.takeAll(.commitFirst(CommitID(7), until: bench.now + 1_000))
        return bench
    }

    @Test func `a start that the group must not commit ends the member`() throws {
        let bench = try Self.committing()
        bench.consumer.events = [.committed(CommitID(7), KafkaFault(.groupAuthorizationFailed, "no right"))]
        #expect(Self.isForbidden(bench))
    }

    @Test(arguments: [true, false])
    func `a start that was not committed is asked for again, after a pause`(isAnswered: Bool) throws {
        let bench = try Self.committing()
        let asked = bench.brokers.questions.count
        if isAnswered {
            try bench.steps(with: .committed(CommitID(7), .timedOut("the coordinator moves")))
        } else {
            bench.now = bench.now + 1_000
            try bench.steps()
        }
        #expect(bench.member.partitions[0]?.state == .assigned)
        #expect(bench.brokers.questions.count == asked, "it pauses")
        bench.now = bench.now + 5_000
        try bench.steps()
        #expect(bench.brokers.questions.count > asked && bench.member.partitions[0]?.state == .asked)
    }

    @Test func `a start that was committed is read`() throws {
        let bench = try Self.committing()
        try bench.steps(40, with: .committed(CommitID(7), nil))
        #expect(bench.member.partitions[0]?.state == .reading)
    }

    @Test(arguments: [true, false])
    func `offsets of an output are committed beside it, but not after a loss`(isLost: Bool) throws {
        let bench = try MemberBench(.atLeastOnce)
        try bench.read()
        #expect(try bench.write() != nil)
        bench.consumer.isAssignmentLost = isLost
        bench.brokers.outcomes = [.written(ledgerEnds: [:], timeShare: 0, offsetsAreDue: true)]
        try bench.steps()
        #expect(bench.consumer.committed.isEmpty == isLost)
        #expect(bench.member.output.fault?.message == (isLost ? "the assignment was lost" : nil))
    }

    @Test func `a member that gives up tells the output on its way, before the group is left`() throws {
        let bench = try MemberBench(.atLeastOnce)
        try bench.read()
        let batch = try #require(try bench.write())
        bench.member.giveUp(at: bench.now)
        #expect(batch.budget.isLost && batch.budget.left(at: bench.now) <= 3_000 && !bench.consumer.isClosed)
        bench.member.close(at: bench.now)
        #expect(bench.consumer.isClosed)
    }

    @Test func `nothing is polled in a row while the ends of ledgers are asked for again after a pause`() throws {
        let bench = try MemberBench()
        try bench.arrive()
        bench.member.restore(kept: [], of: bench.member.announcement, at: bench.now)
        try bench.steps()
        let asked = bench.brokers.questions.count
        #expect(bench.member.reader?.query == nil && bench.member.isAwaiting)
        bench.now = bench.now + 5_000
        try bench.steps()
        #expect(bench.brokers.questions.count > asked)
    }

    @Test(arguments: [GroupEvent.revoked([0]), .lost([0])])
    func `damage of partitions that were taken away is forgotten`(event: GroupEvent) throws {
        let bench = try MemberBench()
        try bench.read()
        bench.member.damaged = [PartitionDamage(partition: 0, cause: "checksum", isLedger: false)]
        try bench.steps(with: event)
        #expect(bench.member.damaged.isEmpty && bench.member.changes.count == 1)
    }
}
