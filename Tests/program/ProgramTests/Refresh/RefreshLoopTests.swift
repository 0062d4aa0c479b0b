internal import AppAttest
internal import Crypto
internal import DeviceLab
internal import Gateway
internal import Kafka
internal import KafkaPorts
internal import Risk
internal import RiskKit
internal import Settings
internal import Streams
internal import Telemetry
internal import Testing

@testable internal import Refresher

@Suite("The refresher's loop")
struct RefreshLoopTests {
    private static let start = EvaluationTime(milliseconds: 1_700_000_000_000)
    private static let due = start.after(milliseconds: Milliseconds.minute)

    private final class Events {
        var all: [LogEvent] = []
    }

    /// Consumers that take the place of the first line's.
    private let spares = (0..<3).map { _ in FakeConsumer() }
    private let consumers = ReceiptLine.allCases.map { _ in FakeConsumer() }
    private let caller = FakeCaller()
    private let outlet = FakeOutlet()
    private let inbox = RefreshInbox()
    private let events = Events()
    private let loop: RefreshLoop

    init() throws {
        let key = try SigningKey.generate(.p256)
        let keys = FakeReceipts.teams.compactMap { ProviderKey(team: $0, kid: "K", key: key) }
        var settings = RefreshDriver.Settings(partitions: 2, keys: keys, apps: [FakeReceipts.app])
        settings.callsPerSecond = 1_000
        let events = events
        var rest = spares[...]
        let groups = zip(ReceiptLine.allCases, consumers).map { line, consumer in
            let renewed = { () throws(KafkaFault) -> (any GroupConsumer)? in line == .first ? rest.popFirst() : nil }
            return LineGroup(line, consumer, partitions: 2, renewed: renewed) { events.all.append($0) }
        }
        loop = RefreshLoop(
            RefreshDriver(settings, judge: FakeReceipts()),
            groups: groups,
            caller: caller,
            outlet: outlet,
            topic: "requests",
            inbox: inbox,
            monitor: RefreshMonitor(version: "0"),
            say: { events.all.append($0) }
        )
        for consumer in consumers { consumer.put(.assigned([0, 1])) }
    }

    private func record(_ offset: Int64, key: Int = 2) -> ReceiptRecord {
        let dates = ReceiptDates(type: .attest, createdAt: Self.start)
        return FakeReceipts.record(SimulatedReceipt(key: key, dates: dates, attestation: 1), offset: offset)
    }

    private var verified: CallReply {
        .answered(FakeReceipts.answer(createdAt: Self.due))
    }

    private var absent: CallReply {
        .answered(ReceiptAnswer(status: 404, headers: [], body: [], at: Self.due))
    }

    private func report(_ outcome: DeliveryReport.Outcome, _ ticket: UInt) {
        inbox.put(.reports([DeliveryReport(ticket: ticket, outcome: outcome)]))
    }

    @Test func `a due receipt is called for, its answer written, and then its offset committed`() throws {
        #expect(loop.unfitness != nil)
        _ = try loop.pass(at: Self.start, now: 0)
        #expect(loop.unfitness == nil)
        #expect(consumers.allSatisfy { $0.assigned.map(\.offset) == [PartitionOffset.stored, PartitionOffset.stored] })
        consumers[0].put(record(7), partition: 1)
        _ = try loop.pass(at: Self.start, now: 100)
        #expect(caller.calls.isEmpty)
        _ = try loop.pass(at: Self.due, now: 60_000)
        try #require(caller.calls.count == 1)
        let number = caller.calls[0].number
        caller.answer(number, verified)
        _ = try loop.pass(at: Self.due, now: 63_000)
        let request = try #require(outlet.written.first)
        #expect(request.topic == "requests" && request.partition == 1 && request.key == record(7).key)
        #expect(request.headers.map(\.name) == [Array("request-id".utf8)])
        #expect(request.ticket == number && consumers[0].committed.allSatisfy { $0.offset <= 7 })
        report(.written, number)
        _ = try loop.pass(at: Self.due, now: 66_000)
        #expect(consumers[0].committed.last == PartitionOffset(partition: 1, offset: 8))
        #expect(loop.openCount == 0 && loop.verifiedCount == 1)
    }

    @Test func `a fenced consumer is replaced, and reads from the committed offset again`() throws {
        _ = try loop.pass(at: Self.start, now: 0)
        consumers[0].put(record(7), partition: 1)
        consumers[0].put(.fault(KafkaFault(.fencedInstanceId, "fenced")))
        _ = try loop.pass(at: Self.due, now: 1_000)
        #expect(consumers[0].steps.last == "discard" && spares[0].steps == ["subscribe"])
        #expect(caller.calls.isEmpty && loop.unfitness != nil)
        spares[0].put(.assigned([1]))
        _ = try loop.pass(at: Self.due, now: 2_000)
        #expect(spares[0].assigned == [PartitionOffset(partition: 1, offset: PartitionOffset.stored)])
        spares[0].put(record(7), partition: 1)
        _ = try loop.pass(at: Self.due, now: 3_000)
        #expect(caller.calls.count == 1 && loop.unfitness == nil)
    }

    @Test func `receipts of an app that a reload switches off are passed`() throws {
        _ = try loop.pass(at: Self.start, now: 0)
        consumers[0].put(record(7), partition: 1)
        _ = try loop.pass(at: Self.start, now: 1)
        loop.reload(RefreshRules(keys: [], apps: [], callsPerSecond: 1_000))
        _ = try loop.pass(at: Self.due, now: 3_000)
        #expect(caller.calls.isEmpty && consumers[0].committed.last?.offset == 8)
    }

    @Test func `a fault that comes while a revocation waits for its commit is not lost`() throws {
        _ = try loop.pass(at: Self.start, now: 0)
        consumers[0].isSilent = true
        consumers[0].put(record(7), partition: 1)
        _ = try loop.pass(at: Self.due, now: 1_000)
        caller.answer(try #require(caller.calls.first).number, verified)
        _ = try loop.pass(at: Self.due, now: 1_100)
        report(.written, caller.calls[0].number)
        _ = try loop.pass(at: Self.due, now: 1_200)
        consumers[0].put(.revoked([0, 1]))
        consumers[0].put(.fault(KafkaFault(.fencedInstanceId, "fenced")))
        _ = try loop.pass(at: Self.due, now: 1_300)
        #expect(consumers[0].steps.last == "discard" && spares[0].steps == ["subscribe"])
    }

    @Test func `a commit without an answer is given up after 30 s and made again`() throws {
        _ = try loop.pass(at: Self.start, now: 0)
        consumers[0].isSilent = true
        consumers[0].put(record(7), partition: 1)
        _ = try loop.pass(at: Self.due, now: 1_000)
        caller.answer(try #require(caller.calls.first).number, verified)
        _ = try loop.pass(at: Self.due, now: 1_100)
        report(.written, caller.calls[0].number)
        _ = try loop.pass(at: Self.due, now: 4_000)
        _ = try loop.pass(at: Self.due.after(milliseconds: 29_000), now: 33_000)
        #expect(consumers[0].steps.count { $0 == "commit" } == 1)
        _ = try loop.pass(at: Self.due.after(milliseconds: 30_000), now: 36_000)
        #expect(consumers[0].steps.count { $0 == "commit" } == 2)
    }

    @Test func `a consumer that is fenced again and again ends the refresher with what to do`() throws {
        for consumer in [consumers[0]] + spares { consumer.put(.fault(KafkaFault(.fencedInstanceId, "fenced"))) }
        let fault = #expect(throws: KafkaFault.self) {
            for pass in 0..<5 { _ = try loop.pass(at: Self.start, now: Int64(pass) * 1_000) }
        }
        #expect(fault?.message.contains("--instance") == true)
        #expect(spares.allSatisfy { $0.steps.contains("subscribe") })
    }

    @Test func `a line that cannot be renewed ends the refresher at the first fence`() throws {
        consumers[1].put(.fault(KafkaFault(.fencedInstanceId, "fenced")))
        #expect(throws: KafkaFault.self) { try loop.pass(at: Self.start, now: 0) }
    }

    @Test(arguments: [DeliveryReport.Outcome.notWritten, .unknown])
    func `a request that is not known to be written is not committed past, and called for again`(
        outcome: DeliveryReport.Outcome
    ) throws {
        _ = try loop.pass(at: Self.start, now: 0)
        consumers[0].put(record(7), partition: 1)
        _ = try loop.pass(at: Self.due, now: 1_000)
        caller.answer(try #require(caller.calls.first).number, verified)
        _ = try loop.pass(at: Self.due, now: 4_000)
        report(outcome, caller.calls[0].number)
        _ = try loop.pass(at: Self.due, now: 7_000)
        #expect(consumers[0].committed.allSatisfy { $0.offset <= 7 })
        _ = try loop.pass(at: Self.due.after(milliseconds: Milliseconds.minute), now: 10_000)
        #expect(caller.calls.count == 2)
    }

    @Test func `a revocation commits before it is answered, a loss does not`() throws {
        for isLost in [false, true] {
            let consumer = consumers[isLost ? 1 : 0]
            _ = try loop.pass(at: Self.start, now: 0)
            var tombstone = record(4)
            tombstone.value = nil
            consumer.put(tombstone, partition: 0)
            consumer.put(isLost ? .lost([0, 1]) : .revoked([0, 1]))
            _ = try loop.pass(at: Self.start, now: 1)
            #expect(consumer.steps.suffix(isLost ? 1 : 2) == (isLost ? ["unassign"] : ["commit", "unassign"]))
            #expect(consumer.committed.map(\.offset) == (isLost ? [] : [5]))
        }
        #expect(events.all.map(\.name).suffix(1) == [.partitionsLost])
    }

    @Test func `a failed commit is repeated`() throws {
        _ = try loop.pass(at: Self.start, now: 0)
        var tombstone = record(4)
        tombstone.value = nil
        consumers[0].put(tombstone, partition: 0)
        consumers[0].commitFault = KafkaFault(code: 27, name: "REBALANCE_IN_PROGRESS", message: "rebalance")
        _ = try loop.pass(at: Self.start, now: 3_000)
        _ = try loop.pass(at: Self.start, now: 3_100)
        #expect(consumers[0].committed.isEmpty)
        consumers[0].commitFault = nil
        _ = try loop.pass(at: Self.start, now: 6_000)
        #expect(consumers[0].committed.map(\.offset) == [5])
    }

    @Test func `a partition that has room again is sought, and paused once more where that fails`() throws {
        _ = try loop.pass(at: Self.start, now: 0)
        let most = Int64(64)
        for offset in 0..<most + 5 { consumers[0].put(record(offset), partition: 0) }
        _ = try loop.pass(at: Self.start, now: 1)
        #expect(consumers[0].steps.suffix(1) == ["pause"])
        consumers[0].seekFaults = [0: .notStarted]
        var time = Self.due
        for _ in 0..<40 {
            time = time.after(milliseconds: 10)
            _ = try loop.pass(at: time, now: 2)
            for call in caller.calls { caller.answer(call.number, absent) }
        }
        #expect(caller.calls.count > 32)
        #expect(consumers[0].steps.suffix(3) == ["resume", "seek 0 \(most)", "pause"])
        consumers[0].seekFaults = [:]
        _ = try loop.pass(at: time, now: 3)
        #expect(consumers[0].steps.suffix(2) == ["resume", "seek 0 \(most)"])
    }

    @Test func `a stop begins no call, and closes the groups after a last commit`() throws {
        _ = try loop.pass(at: Self.start, now: 0)
        consumers[0].put(record(7), partition: 1)
        _ = try loop.pass(at: Self.due, now: 1_000, isStopping: true)
        #expect(caller.calls.isEmpty)
        loop.close()
        #expect(caller.isStopped && consumers.allSatisfy { $0.steps.last == "close" })
        #expect(consumers[0].committed.map(\.offset) == [7])
    }

    @Test func `what no loop can go on with ends it`() throws {
        _ = try loop.pass(at: Self.start, now: 0)
        #expect(throws: CommandFault.self) { try loop.pass(at: Self.start.after(milliseconds: -3_000), now: 1) }
        consumers[0].put(.assigned([2]))
        #expect(throws: CommandFault.self) { try loop.pass(at: Self.start, now: 2) }
        let fault = KafkaFault(code: -144, name: "_FATAL", message: "fenced", isFatal: true)
        consumers[1].put(.fault(fault))
        #expect(throws: fault) { try loop.pass(at: Self.start, now: 3) }
    }

    @Test func `a login that is refused for now is waited out, a right that is missing ends the loop`() throws {
        _ = try loop.pass(at: Self.start, now: 0)
        consumers[1].put(.fault(KafkaFault(.authentication, "JoinGroup failed").ofRunning(renewsLogin: true)))
        _ = try loop.pass(at: Self.start, now: 1)
        #expect(loop.unfitness == nil, "what it has it reads")
        consumers[1].put(.lost([0, 1]))
        _ = try loop.pass(at: Self.start, now: 2)
        #expect(loop.unfitness?.hasSuffix("cannot be joined: JoinGroup failed") == true)
        consumers[1].put(.assigned([0, 1]))
        _ = try loop.pass(at: Self.start, now: 3)
        #expect(loop.unfitness == nil)
        let fault = KafkaFault(.groupAuthorizationFailed, "no right")
        consumers[1].put(.fault(fault))
        #expect(throws: fault) { try loop.pass(at: Self.start, now: 4) }
    }

    @Test func `the log names no receipt, token or key`() throws {
        _ = try loop.pass(at: Self.start, now: 0)
        consumers[0].put(record(0), partition: 0)
        _ = try loop.pass(at: Self.due, now: 1)
        let call = try #require(caller.calls.first)
        let trace: [(name: String, value: [UInt8])] = [("X-B3-TraceId", Array("0123456789abcdef".utf8))]
        let answer = ReceiptAnswer(status: 200, headers: trace, body: Array("<html>".utf8), at: Self.due)
        caller.answer(call.number, .answered(answer))
        _ = try loop.pass(at: Self.due, now: 2)
        let line = try #require(events.all.first { $0.name == .riskAnswer }).message
        #expect(line.contains("0123456789abcdef") && line.contains("not-base64"))
        let secrets = [
            String(decoding: call.token, as: UTF8.self), String(decoding: record(0).key ?? [], as: UTF8.self),
        ]
        for event in events.all { #expect(!secrets.contains { event.message.contains($0) }) }
    }
}
