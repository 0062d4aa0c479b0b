internal import AppAttest
internal import Gateway
internal import Kafka
internal import KafkaPorts
internal import Risk
internal import RiskKit
internal import Settings
internal import SimulationKit
internal import Streams
internal import Telemetry
internal import Testing

@testable internal import Refresher

/// What the seeds of RefreshFleetTests do not show: records, sentences, and ends.
@Suite("The refresher's loop")
struct RefreshLoopTests {
    private static let due = LoneRefresher.start.after(milliseconds: Milliseconds.minute)

    private let caller = FakeCaller()
    private let refresher: LoneRefresher

    private static func record(_ offset: Int64, partition: Int32 = 0, key: Int = 2) -> InboundRecord {
        let dates = ReceiptDates(type: .attest, createdAt: LoneRefresher.start)
        let receipt = SimulatedReceipt(key: key, dates: dates)
        return FakeReceipts.record(receipt, offset: offset).inbound(partition: partition)
    }

    init() throws {
        refresher = try LoneRefresher([Self.record(7), Self.record(3, partition: 1, key: 4)], caller: caller)
    }

    @Test func `a due receipt is called for, its answer written, and then its offset committed`() throws {
        #expect(refresher.loop.unfitness != nil)
        #expect(try refresher.pass { refresher.loop.unfitness == nil })
        #expect(try refresher.pass { caller.calls.count == 2 })
        #expect(refresher.time >= Self.due && refresher.time < Self.due.after(milliseconds: 100))
        let call = try #require(caller.calls.first { $0.pair.partition == 0 })
        caller.answer(call.number, .answered(FakeReceipts.answer(createdAt: Self.due)))
        #expect(try refresher.pass { !refresher.outlet.written.isEmpty })
        let request = try #require(refresher.outlet.written.first)
        #expect(request.topic == "requests" && request.partition == 0 && request.key == Self.record(7).key)
        #expect(request.headers.map(\.name) == [Array("request-id".utf8)] && request.ticket == call.number)
        #expect(refresher.committed(.first, 0) ?? 0 <= 7)
        refresher.report(.written, call.number)
        #expect(try refresher.pass { refresher.committed(.first, 0) == 8 })
        #expect(refresher.loop.openCount == 1 && refresher.loop.verifiedCount == 1)
    }

    @Test func `a member that is fenced again and again ends the refresher with what to do`() throws {
        #expect(try refresher.pass { refresher.loop.unfitness == nil })
        for count in 1...3 {
            refresher.join(.first, as: LoneRefresher.name)
            let member = refresher.members[0]
            #expect(try refresher.pass { member.fences.count == count && refresher.loop.unfitness == nil })
        }
        refresher.join(.first, as: LoneRefresher.name)
        let fault = #expect(throws: KafkaFault.self) { try refresher.pass { false } }
        #expect(fault?.message.contains("line first") == true && fault?.message.contains("--instance") == true)
    }

    @Test func `a stop begins no call, and closes the groups after a last commit`() throws {
        #expect(try refresher.pass { caller.calls.count == 2 })
        for call in caller.calls {
            caller.answer(call.number, .answered(ReceiptAnswer(status: 404, headers: [], body: [], at: Self.due)))
        }
        #expect(try refresher.pass(isStopping: true) { refresher.loop.openCount == 0 })
        refresher.loop.close()
        #expect(caller.isStopped && caller.calls.count == 2)
        #expect(refresher.committed(.first, 0) == 8 && refresher.committed(.first, 1) == 4)
        #expect(refresher.members.allSatisfy { $0.groupID == nil })
    }

    @Test func `a clock that was set back ends the loop`() throws {
        #expect(try refresher.pass { refresher.loop.unfitness == nil })
        let before = refresher.time.after(milliseconds: -3_000)
        #expect(throws: CommandFault.self) { try refresher.loop.pass(at: before, now: 100_000) }
    }

    @Test func `a partition that was added ends the loop`() throws {
        let small = try LoneRefresher([Self.record(7), Self.record(3, partition: 1)], partitions: 1, caller: caller)
        let fault = #expect(throws: CommandFault.self) { try small.pass { false } }
        #expect(fault.map { "\($0)" }?.contains("partition 1 and had 1 partition at the start") == true)
    }

    @Test func `a login that is refused for now is waited out, a right that is missing ends the loop`() throws {
        #expect(try refresher.pass { refresher.loop.unfitness == nil })
        let refused = KafkaFault(.authentication, "JoinGroup failed").ofRunning(renewsLogin: true)
        // The group waits for this one, which never comes.
        refresher.join(.again, as: "another")
        #expect(try refresher.pass { refresher.events.contains { $0.message.contains("again gives back") } })
        #expect(try refresher.pass { refresher.loop.unfitness == nil })
        refresher.members[1].report(refused)
        #expect(try refresher.pass { refresher.events.contains { $0.message.contains("JoinGroup failed") } })
        #expect(refresher.loop.unfitness == nil, "what it has it reads")
        refresher.expel(.again)
        #expect(try refresher.pass { refresher.loop.unfitness != nil })
        #expect(refresher.loop.unfitness?.hasSuffix("cannot be joined: JoinGroup failed") == true)
        #expect(try refresher.pass { refresher.loop.unfitness == nil })
        let fault = KafkaFault(.groupAuthorizationFailed, "no right")
        refresher.members[1].report(fault)
        #expect(throws: fault) { try refresher.pass { false } }
    }

    @Test func `the log names no receipt, token or key`() throws {
        #expect(try refresher.pass { !caller.calls.isEmpty })
        let call = try #require(caller.calls.first)
        let trace: [(name: String, value: [UInt8])] = [("X-B3-TraceId", Array("0123456789abcdef".utf8))]
        let answer = ReceiptAnswer(status: 200, headers: trace, body: Array("<html>".utf8), at: Self.due)
        caller.answer(call.number, .answered(answer))
        #expect(try refresher.pass { refresher.events.contains { $0.name == .riskAnswer } })
        let line = try #require(refresher.events.first { $0.name == .riskAnswer }).message
        #expect(line.contains("0123456789abcdef") && line.contains("not-base64"))
        let secrets = [call.token, call.receipt.key].map { String(decoding: $0, as: UTF8.self) }
        for event in refresher.events { #expect(!secrets.contains { event.message.contains($0) }) }
    }
}
