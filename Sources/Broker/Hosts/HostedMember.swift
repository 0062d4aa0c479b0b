package import Dispatch
package import KafkaPorts
package import Log
package import Member

/// A member of the group on librdkafka, with its own threads, in the roles that the loop calls. Used on the loop's
/// queue.
package final class HostedMember {
    private let member: MemberLog
    private let writer: WriterThread

    /// Joins the group. Connects in the background; nothing is waited for here.
    ///
    /// - Parameters:
    ///   - loop: the queue that the member is called on; nil = not checked.
    ///   - trouble: called with every fault that is ridden out.
    ///   - restored: called at the end of each restore with its number of records.
    ///   - wake: called where a completion has come, on any thread: the loop is to make a step.
    package init(
        _ delivery: UnitWriter.Settings.Delivery,
        _ settings: BrokerSettings,
        loop: DispatchQueue? = nil,
        trouble: @escaping @Sendable (KafkaFault) -> Void = { _ in },
        restored: @escaping @Sendable (Int) -> Void = { _ in },
        wake: @escaping @Sendable () -> Void = {}
    ) throws(KafkaFault) {
        let assembly = try MemberAssembly(settings, loop: loop, wake: wake)
        var rules = try assembly.memberSettings(delivery)
        (rules.trouble, rules.restored) = (trouble, restored)
        writer = try assembly.writer(delivery, clock: MemberClock.now)
        let core = try KafkaMember(rules, assembly.ports(writer: writer), at: MemberClock.now())
        member = MemberLog(core, clock: MemberClock.now, isStopping: settings.isStopping)
    }

    /// The member's calls at this moment.
    package var log: MemberLog { member }
    package var roles: LogRoles { member.roles }
    /// The member's state, as far as it is known without asking the brokers.
    package func sight() -> LogSight { member.core.sight() }

    /// Leaves the group, and waits for the unit that is being written, which gives up soon.
    package func close() {
        // First the writer: a new owner's ledger records must not be followed by ours.
        member.core.giveUp(at: MemberClock.now())
        writer.finish()
        member.core.close(at: MemberClock.now())
    }
}

/// The clock of members: it cannot be set, and it runs while the machine sleeps.
enum MemberClock {
    private static let start = ContinuousClock.now

    @Sendable static func now() -> Moment {
        Moment(milliseconds: Int64((ContinuousClock.now - start) / .milliseconds(1)))
    }
}
