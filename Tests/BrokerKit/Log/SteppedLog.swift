package import Broker
package import KafkaPorts
package import Log
package import Member
internal import Pipeline
internal import TestKit
internal import Testing
internal import Threads

/// A member that a test steps on its own thread. What the loop's driver would wait for is waited for here.
package final class SteppedLog {
    package let log: MemberLog
    private let ridden: () -> [KafkaFault]
    private let closing: () -> Void
    /// Lets so many milliseconds pass.
    let passing: (Int) -> Void
    package private(set) lazy var unit = SteppedUnit(self)

    package convenience init(_ delivery: UnitWriter.Settings.Delivery, _ settings: BrokerSettings) throws {
        let ridden = Locked<[KafkaFault]>([])
        let member = try HostedMember(delivery, settings, trouble: { fault in ridden.withLock { $0.append(fault) } })
        self.init(
            member.log,
            troubles: { ridden.withLock { $0 } },
            passing: { pause(milliseconds: $0) },
            closing: member.close
        )
    }

    /// A member of any world.
    package init(
        _ log: MemberLog,
        troubles: @escaping () -> [KafkaFault] = { [] },
        passing: @escaping (Int) -> Void,
        closing: @escaping () -> Void
    ) {
        (self.log, self.ridden, self.passing, self.closing) = (log, troubles, passing, closing)
    }

    /// Faults that the member rode out.
    package var troubles: [KafkaFault] { ridden() }

    package var roles: LogRoles { log.roles }
    package func sight() -> LogSight { log.core.sight() }

    package func poll(_ limits: BatchLimits, waitMilliseconds: Int) throws -> PollRound {
        let round = try log.poll(limits, waitMilliseconds: waitMilliseconds)
        if round.records.isEmpty, round.events.isEmpty { rest(waitMilliseconds) }
        return round
    }

    package func serve() throws -> [PartitionEvent] { try log.serve() }

    package func readLedgers(_ records: Int, waitMilliseconds: Int) throws -> [PartitionEvent] {
        let events = try log.readLedgers(records, waitMilliseconds: waitMilliseconds)
        let isNews = events.contains { if case .ledger(let records, _) = $0 { !records.isEmpty } else { true } }
        if !isNews { rest(waitMilliseconds) }
        return events
    }

    package func release() throws { try log.release() }
    package func close() throws { closing() }

    /// Where an answer is awaited, a poll does not wait.
    func rest(_ milliseconds: Int) { if log.isAwaiting { passing(min(milliseconds, 5)) } }
}

/// Its units, call by call: a commit waits for the writer.
package final class SteppedUnit {
    private unowned let log: SteppedLog
    private var records: [OutboundRecord] = []
    /// Changes of the assignment that came while a unit was awaited.
    private var changes: [PartitionEvent] = []

    init(_ log: SteppedLog) { self.log = log }

    package func takeChange() -> PartitionEvent? { changes.isEmpty ? nil : changes.removeFirst() }

    package func begin() throws { records = [] }
    package func append(_ more: [OutboundRecord]) throws { records += more }

    package func commit(_ positions: [PartitionPosition], of generation: Generation) throws {
        try log.log.write([records], positions, of: generation)
        records = []
        try untilOver { log.log.hasOutcome }
        try log.log.takeOutcome()
    }

    package func abort() throws {
        records = []
        try untilOver { try self.log.log.abort() }
    }

    /// A unit has a time of its own, so this ends.
    private func untilOver(_ isOver: () throws -> Bool) throws {
        while try !isOver() {
            changes += try log.serve()
            log.passing(2)
        }
    }
}
