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

    @Test(arguments: [KafkaErrorCode.authentication, .saslAuthenticationFailed, .unknown])
    func `a login between two tokens, and a broken coordinator, are waited out`(code: KafkaErrorCode) throws {
        let bench = try MemberBench(.transaction)
        let fault = KafkaFault(code, "JoinGroup failed")
        try bench.steps(with: .fault(fault.ofRunning(renewsLogin: true)))
        bench.brokers.fault = fault.ofRunning(renewsLogin: true)
        try bench.steps(with: .assigned([0]))
        let asked = bench.brokers.questions.count
        bench.brokers.fault = nil
        bench.now = bench.now + 5_000
        try bench.steps()
        #expect(bench.brokers.questions.count > asked, "it asks again")
        // A password is read at the start; a client of no further use, and a missing right, are other things.
        let others = [
            fault.with(isFatal: true, requiresAbort: false), KafkaFault(.groupAuthorizationFailed, ""),
            KafkaFault(.authentication, "").ofRunning(renewsLogin: false),
        ]
        for other in others { #expect(throws: KafkaFault.self) { try bench.steps(with: .fault(other)) } }
    }

    @Test func `a commit of offsets between two tokens aborts the output`() throws {
        for renewsLogin in [true, false] {
            let bench = try MemberBench(.atLeastOnce)
            try bench.read()
            #expect(try bench.write() != nil)
            bench.brokers.outcomes = [.written(ledgerEnds: [:], timeShare: 0, offsetsAreDue: true)]
            try bench.steps()
            let fault = KafkaFault(.authentication, "no token").ofRunning(renewsLogin: renewsLogin)
            try bench.steps(with: .committed(CommitID(bench.consumer.committed.count), fault))
            #expect(bench.member.output.fault?.isRecoverable == renewsLogin)
        }
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

    @Test func `marks are asked for until all of them are known, and then no more`() throws {
        let bench = try MemberBench(partitions: 3)
        func asked() throws -> [BrokerQuery] {
            let before = bench.brokers.questions.count
            try bench.arrive()
            return Array(bench.brokers.questions[before...])
        }
        #expect(try asked().first == .topicsAndMarks)
        bench.brokers.marked = [3]
        #expect(try asked().first == .topicsAndMarks)
        #expect(try asked().first == .topics)
        #expect(bench.member.marked == [3])
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
