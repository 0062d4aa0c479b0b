package import Broker
package import KafkaPorts
package import Member
package import Streams
internal import TestKit
internal import Threads

/// A member that a test steps on its own thread. What the loop's driver would wait for is waited for here.
package final class SteppedMember {
    package let streams: MemberStreams
    private let ridden: () -> [KafkaFault]
    private let closing: () -> Void
    /// Lets so many milliseconds pass.
    private let passing: (Int) -> Void
    /// Changes of the assignment that came while a transaction was awaited.
    private var changes: [PartitionEvent] = []

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

    package func readLedgers(_ records: Int, waitMilliseconds: Int) throws -> [PartitionEvent] {
        let events = try streams.readLedgers(records, waitMilliseconds: waitMilliseconds)
        let hasCome = events.contains { if case .ledger(let records, _) = $0 { !records.isEmpty } else { true } }
        if !hasCome { rest(waitMilliseconds) }
        return events
    }

    package func close() throws { closing() }

    /// Where an answer is awaited, a poll does not wait.
    private func rest(_ milliseconds: Int) { if streams.isAwaiting { passing(min(milliseconds, 5)) } }

    // MARK: Transactions, call by call

    func takeChange() -> PartitionEvent? { changes.isEmpty ? nil : changes.removeFirst() }

    /// Waits for the writer.
    func commit(_ records: [OutboundRecord], _ positions: [PartitionPosition], of generation: Generation) throws {
        try streams.write([records], positions, of: generation)
        try untilOver { streams.hasOutcome }
        try streams.takeOutcome()
    }

    func abort() throws { try untilOver { try streams.abort() } }

    /// A transaction has a time of its own, so this ends.
    private func untilOver(_ isOver: () throws -> Bool) throws {
        while try !isOver() {
            changes += try streams.serve()
            passing(2)
        }
    }
}
