internal import AppAttest
internal import Gateway
internal import Kafka
internal import KafkaPorts
internal import Risk
internal import RiskKit
internal import SimulationKit
internal import Streams
internal import Telemetry

@testable internal import Refresher

/// Calls that a test answers.
class FakeCaller: CallPort {
    private(set) var calls: [ReceiptCall] = []
    private var ends: [UInt: @Sendable (CallReply) -> Void] = [:]
    private(set) var isStopped = false

    func begin(_ call: ReceiptCall, end: @escaping @Sendable (CallReply) -> Void) {
        calls.append(call)
        ends[call.number] = end
    }

    func answer(_ number: UInt, _ reply: CallReply) { ends.removeValue(forKey: number)?(reply) }

    func stop() { isStopped = true }
}

/// A refresher on the simulated Kafka, to which nothing happens but what its test does.
final class LoneRefresher {
    static let start = EvaluationTime(milliseconds: 1_700_000_000_000)
    /// The static member's name.
    static let name = "lone"

    /// Each line's.
    let brokers: [SimulatedBroker]
    let members: [SimulatedProcess]
    let outlet = RefreshFleet.Outlet()
    let inbox = RefreshInbox()
    let loop: RefreshLoop
    private let log: Log
    private let start: EvaluationTime

    private final class Log {
        var events: [LogEvent] = []
    }

    /// - Parameters:
    ///   - records: of the receipts topic, of which each partition has one at least.
    ///   - partitions: those that the refresher knows of.
    ///   - start: its time of day at first.
    init(
        _ records: [InboundRecord],
        partitions: Int = 2,
        rules: RefreshRules? = nil,
        judge: any ReceiptJudge = FakeReceipts(),
        caller: any CallPort,
        at start: EvaluationTime = start
    ) throws {
        self.start = start
        brokers = ReceiptLine.allCases.map { SimulatedBroker(records: records, seed: UInt64($0.rawValue)) }
        for broker in brokers { broker.offerAll() }
        members = brokers.map { broker in
            SimulatedProcess(name: Self.name, isStatic: true, broker: broker, seed: 1, chances: .none)
        }
        let (log, processes) = (Log(), members)
        self.log = log
        loop = RefreshLoop(
            RefreshDriver(try rules ?? FakeReceipts.rules(), partitions: partitions, judge: judge),
            groups: try LineGroup.all(partitions: Int32(partitions), say: { log.events.append($0) }) {
                line throws(KafkaFault) in try processes[line.rawValue].groupConsumer()
            },
            caller: caller,
            outlet: outlet,
            topic: "requests",
            inbox: inbox,
            monitor: RefreshMonitor(version: "0"),
            say: { log.events.append($0) }
        )
    }

    var events: [LogEvent] { log.events }
    private var now: Int64 { brokers[0].now }
    var time: EvaluationTime { start.after(milliseconds: now) }

    /// Another process joins a line's group.
    func join(_ line: ReceiptLine, as name: String) {
        _ = brokers[line.rawValue].group.join(name: name, instance: name, at: now)
    }

    /// The group of a line forgets this member.
    func expel(_ line: ReceiptLine) {
        guard let id = members[line.rawValue].groupID else { return }
        brokers[line.rawValue].group.leave(id, at: now)
    }

    func committed(_ line: ReceiptLine, _ partition: Int32) -> Int64? {
        brokers[line.rawValue].committed[partition]
    }

    func report(_ outcome: DeliveryReport.Outcome, _ ticket: UInt) {
        inbox.put(.reports([DeliveryReport(ticket: ticket, outcome: outcome)]))
    }

    /// Passes until a condition holds, at most a minute and a half.
    ///
    /// - Returns: whether it holds.
    @discardableResult
    func pass(isStopping: Bool = false, until isOver: () -> Bool) throws -> Bool {
        for _ in 0..<9_000 {
            if isOver() { return true }
            try passOnce(isStopping: isStopping)
        }
        return isOver()
    }

    /// Ten milliseconds later.
    func passOnce(isStopping: Bool = false) throws {
        let next = now + 10
        for (broker, member) in zip(brokers, members) {
            if let id = member.groupID { broker.group.heartbeat(id, at: next) }
            broker.advance(by: 10)
        }
        _ = try loop.pass(at: time, now: now, isStopping: isStopping)
    }
}
