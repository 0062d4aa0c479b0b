package import Broker
package import KafkaPorts
package import Member
internal import Pipeline
package import Streams
internal import TestKit
internal import Testing
internal import Threads

/// A member that a test steps on its own thread. What the loop's driver would wait for is waited for here.
package final class SteppedMember {
    package let streams: MemberStreams
    private let ridden: () -> [KafkaFault]
    private let closing: () -> Void
    /// Lets so many milliseconds pass.
    let passing: (Int) -> Void
    package private(set) lazy var transaction = SteppedTransaction(self)

    package convenience init(_ delivery: OutputWriter.Settings.Delivery, _ settings: BrokerSettings) throws {
        let ridden = Locked<[KafkaFault]>([])
        let member = try HostedMember(delivery, settings, trouble: { fault in ridden.withLock { $0.append(fault) } })
        self.init(
            member.streams,
            troubles: { ridden.withLock { $0 } },
            passing: { pause(milliseconds: $0) },
            closing: member.close
        )
    }

    /// A member of any world.
    package init(
        _ streams: MemberStreams,
        troubles: @escaping () -> [KafkaFault] = { [] },
        passing: @escaping (Int) -> Void,
        closing: @escaping () -> Void
    ) {
        (self.streams, self.ridden, self.passing, self.closing) = (streams, troubles, passing, closing)
    }

    /// Faults that the member rode out.
    package var troubles: [KafkaFault] { ridden() }

    package func snapshot() -> MemberSnapshot { streams.core.snapshot() }

    package func poll(_ limits: BatchLimits, waitMilliseconds: Int) throws -> PollRound {
        let round = try streams.poll(limits, waitMilliseconds: waitMilliseconds)
        if round.records.isEmpty, round.events.isEmpty { rest(waitMilliseconds) }
        return round
    }

    package func serve() throws -> [PartitionEvent] { try streams.serve() }

    package func readLedgers(_ records: Int, waitMilliseconds: Int) throws -> [PartitionEvent] {
        let events = try streams.readLedgers(records, waitMilliseconds: waitMilliseconds)
        let hasCome = events.contains { if case .ledger(let records, _) = $0 { !records.isEmpty } else { true } }
        if !hasCome { rest(waitMilliseconds) }
        return events
    }

    package func release() throws { try streams.release() }
    package func close() throws { closing() }

    /// Where an answer is awaited, a poll does not wait.
    func rest(_ milliseconds: Int) { if streams.isAwaiting { passing(min(milliseconds, 5)) } }
}

/// Its transactions, call by call: a commit waits for the writer.
package final class SteppedTransaction {
    private unowned let member: SteppedMember
    private var records: [OutboundRecord] = []
    /// Changes of the assignment that came while a transaction was awaited.
    private var changes: [PartitionEvent] = []

    init(_ member: SteppedMember) { self.member = member }

    package func takeChange() -> PartitionEvent? { changes.isEmpty ? nil : changes.removeFirst() }

    package func begin() throws { records = [] }
    package func append(_ more: [OutboundRecord]) throws { records += more }

    package func commit(_ positions: [PartitionPosition], of generation: Generation) throws {
        try member.streams.write([records], positions, of: generation)
        records = []
        try untilOver { member.streams.hasOutcome }
        try member.streams.takeOutcome()
    }

    package func abort() throws {
        records = []
        try untilOver { try self.member.streams.abort() }
    }

    /// A transaction has a time of its own, so this ends.
    private func untilOver(_ isOver: () throws -> Bool) throws {
        while try !isOver() {
            changes += try member.serve()
            member.passing(2)
        }
    }
}
