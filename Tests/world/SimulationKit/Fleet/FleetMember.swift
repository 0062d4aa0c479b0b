internal import KafkaPorts
internal import Member
package import Streams

/// A process's membership: the member that production runs, on a simulated client library.
package final class FleetMember {
    let process: SimulatedProcess
    private let streams: MemberStreams

    init(_ process: SimulatedProcess, _ plan: SimulationPlan, partitions: Int) throws {
        self.process = process
        let delivery: OutputWriter.Settings.Delivery = plan.delivery == .exactlyOnce ? .transaction : .atLeastOnce
        var writer = OutputWriter.Settings(
            delivery: delivery,
            transactionalID: process.name,
            isStaticMember: plan.isStatic
        )
        var settings = MemberSettings(
            delivery: delivery,
            group: process.broker.groupName,
            stableID: process.name,
            requests: SimulatedBroker.requestsTopic,
            ledger: OutputTopic.ledger.rawValue
        )
        settings.partitions = Int32(partitions)
        settings.outputMilliseconds = plan.limits.transactionTimeout
        // So few that streams of a few requests fill the room.
        settings.mostPending = 3
        settings.countsChanged = { counts, started in
            counts.values.contains { $0 != Int(started) } ? "the topics have other partitions" : nil
        }
        settings.trouble = { [counts = process.broker.counts, name = process.name] fault in
            counts.note("\(name) rides out \(fault)")
        }
        let isAside = plan.commitsOffsetsAside
        (writer.commitsOffsetsAside, settings.commitsOffsetsAside) = (isAside, isAside)
        (settings.guardsPositions, process.broker.dropsOffsets) = (!isAside, isAside)
        let core = try KafkaMember(settings, process.ports(writer), at: process.now)
        streams = MemberStreams(core) { process.now }
    }

    package var roles: StreamRoles {
        StreamRoles(source: streams, transaction: OrderedTransaction(streams), hasLedgers: true)
    }
    /// This member's id in the group; nil = not a member.
    package var groupID: Int? { process.groupID }
    /// The restored partitions of this member; nil = none (yet).
    package var settled: [Int32]? { streams.core.settled }
    /// The client has partitions that the member neither asks about nor reads.
    var hasForgottenPartitions: Bool {
        guard let consumer = process.consumer, consumer.hasAnsweredAssignment else { return false }
        return streams.core.settled == nil && !streams.core.isAwaiting
    }
    /// Partitions that the member has resumed.
    var resumed: [Int32] { process.consumer?.watch.resumed ?? [] }
    /// A transaction is being written.
    var isWriting: Bool { process.isWriting }
    /// The process has crashed in a call.
    package var isDead: Bool { process.isDead }
    /// The fleet has no use for the process any more.
    func kill() { process.kill() }
    /// No fault comes any more.
    func calm() { process.chances = .none }
    /// The process's certificates are renewed.
    func renewFiles() {
        process.renewFiles()
        streams.core.renew(at: process.now)
    }
    func close() { streams.core.close(at: process.now) }
}
