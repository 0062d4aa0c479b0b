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

    /// Any other order lets the library drop a start: see ClientStepsTests.
    @Test(arguments: [true, false])
    func `a partition is assigned and started in an order in which the library loses no start`(hasCommit: Bool) throws {
        let bench = try MemberBench(.atLeastOnce)
        bench.consumer.hasOpenCommit = hasCommit
        try bench.own()
        let assigned = hasCommit ? ["pause", "assign 1"] : ["assign 1", "pause"]
        #expect(bench.consumer.calls == ["assign 0", "assign 0", "assignment"] + assigned)
        bench.consumer.calls = []
        bench.member.partitions.takeAll(.start)
        try bench.steps(hasCommit ? 100 : 0)
        #expect(bench.consumer.calls == [], "it waits for the commit")
        bench.consumer.hasOpenCommit = false
        try bench.steps(100)
        #expect(bench.consumer.calls == (hasCommit ? ["assignment"] : []) + ["seek", "resume"])
        #expect(bench.member.partitions[0]?.state == .reading)
        // A later commit concerns no start.
        bench.consumer.hasOpenCommit = true
        bench.member.partitions.takeAll(.rewind)
        try bench.steps(100)
        #expect(bench.member.partitions[0]?.state == .reading)
    }

    @Test(arguments: [SeekFault.notStarted, .overtaken, .timedOut])
    func `a seek that the library did not do is repeated`(fault: SeekFault) throws {
        let bench = try MemberBench()
        try bench.own()
        bench.member.partitions.takeAll(.start)
        bench.consumer.seekFault = fault
        try bench.steps(100)
        #expect(bench.consumer.seekFault == nil && bench.member.partitions[0]?.state == .reading)
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

    struct FirstMark: Sendable {
        /// The partition's own mark names so many; nil = there is none.
        var own: Int32?
        /// What the marks name at the start, and once our own can be read; nil = some cannot be read.
        var first: Set<Int32>? = []
        var found: Set<Int32>?
        var delivery = Delivery.transaction
        var isHeldBack = false
        var isLost = false
    }

    @Test(arguments: [
        FirstMark(first: [3], found: [3]), FirstMark(first: nil, found: [3]), FirstMark(found: [3]),
        FirstMark(found: [3], delivery: .atLeastOnce), FirstMark(own: 3, found: nil),
        FirstMark(own: 3, first: nil, found: nil), FirstMark(first: nil, found: nil, isHeldBack: true),
        // Another process has written its first mark under another number, or some mark cannot be read.
        FirstMark(found: [3, 4], isLost: true), FirstMark(found: nil, isHeldBack: true),
    ])
    func `an output counts once no other number of partitions stands beside its first marks`(row: FirstMark) throws {
        let bench = try MemberBench(row.delivery, partitions: 3)
        bench.brokers.marked = row.first
        try bench.own()
        let mark = row.own.map { PositionMark(group: Array("group".utf8), delivery: .transaction, partitions: $0) }
        let generation = bench.member.announcement
        _ = try bench.member.ledgerIsWhole(0, mark: mark, isEmpty: true, of: generation, at: bench.now)
        try bench.steps()
        let batch = try #require(try bench.write())
        let isUnseen = row.own == nil && row.first != [3]
        #expect(batch.budget.isHeldBack == (isUnseen && row.delivery == .transaction))
        bench.brokers.marked = row.found
        if batch.budget.isHeldBack { bench.brokers.outcomes = [.arrived] }
        try bench.steps()
        #expect(batch.budget.isHeldBack == (row.isHeldBack || row.isLost) && batch.budget.isLost == row.isLost)
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
