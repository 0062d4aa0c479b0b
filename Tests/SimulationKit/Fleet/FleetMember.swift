internal import KafkaPorts
package import Log
internal import Member

/// A process's membership as a fleet drives it.
package protocol FleetMember: AnyObject {
    var roles: LogRoles { get }
    /// This member's id in the group; nil = not a member.
    var groupID: Int? { get }
    /// The restored partitions of this member; nil = none (yet).
    var settled: [Int32]? { get }
    /// A unit is being written.
    var isWriting: Bool { get }
    /// The process has crashed in a call.
    var isDead: Bool { get }
    /// The fleet has no use for the process any more.
    func kill()
    /// No fault comes any more.
    func calm()
    func close() throws
}

extension SimulatedMember: FleetMember {
    package var roles: LogRoles { LogRoles(source: self, unit: self, ledgers: self) }
    package var isDead: Bool { false }
    package func kill() {}
    package func calm() { chances = .none }
}

/// The member that production runs, on a simulated client library.
final class RealMember: FleetMember {
    private let process: SimulatedProcess
    private let log: MemberLog

    init(_ process: SimulatedProcess, _ plan: SimulationPlan, partitions: Int) throws {
        self.process = process
        let delivery: UnitWriter.Settings.Delivery = plan.delivery == .exactlyOnce ? .transaction : .atLeastOnce
        var writer = UnitWriter.Settings(
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
        settings.unitMilliseconds = plan.limits.transactionTimeout
        settings.countsChanged = { counts, started in
            counts.values.contains { $0 != Int(started) } ? "the topics have other partitions" : nil
        }
        settings.trouble = { [counts = process.broker.counts, name = process.name] fault in
            counts.note("\(name) rides out \(fault)")
        }
        #if DEBUG
            (writer.sabotage, settings.sabotage) = (plan.memberSabotage, plan.memberSabotage)
        #endif
        let core = try KafkaMember(settings, process.ports(writer), at: process.now)
        log = MemberLog(core) { process.now }
    }

    var roles: LogRoles { LogRoles(source: log, detached: OrderedUnit(log), ledgers: log) }
    var groupID: Int? { process.groupID }
    var settled: [Int32]? { log.core.settled }
    var isWriting: Bool { process.isWriting }
    var isDead: Bool { process.isDead }
    func kill() { process.kill() }
    func calm() { process.chances = .none }
    func close() { log.core.close(at: process.now) }
}
