package import KafkaPorts
package import Member
package import Streams
internal import Threads

/// A member of the group on librdkafka, with its own threads, in the roles that the loop calls on its queue, where it is
/// made too.
package final class HostedMember {
    private var owner = Owner("HostedMember")
    private let member: MemberStreams
    private let writer: WriterThread

    /// Joins the group. Connects in the background; nothing is waited for here.
    ///
    /// - Parameters:
    ///   - files: copies of ledgers from which restores begin; nil = there are none.
    ///   - trouble: called with every fault that is ridden out.
    ///   - restored: called at the end of each restore with its number of records.
    ///   - wake: called where a completion has come, on any thread: the loop is to make a step.
    package init(
        _ delivery: OutputWriter.Settings.Delivery,
        _ settings: BrokerSettings,
        files: (any LedgerFiles)? = nil,
        trouble: @escaping @Sendable (KafkaFault) -> Void = { _ in },
        restored: @escaping @Sendable (Int) -> Void = { _ in },
        wake: @escaping @Sendable () -> Void = {}
    ) throws(KafkaFault) {
        let assembly = try MemberAssembly(settings, wake: wake)
        var rules = try assembly.memberSettings(delivery)
        (rules.trouble, rules.restored) = (trouble, restored)
        writer = try assembly.writer(delivery, clock: MemberClock.now)
        var ports = try assembly.ports(writer: writer)
        ports.files = files
        let core = try KafkaMember(rules, ports, at: MemberClock.now())
        member = MemberStreams(core, clock: MemberClock.now, isStopping: settings.isStopping)
        owner.check()
    }

    /// The member's calls at this moment.
    package var streams: MemberStreams { member }
    package var roles: StreamRoles { member.roles }
    /// The member's state, as far as it is known without asking the brokers.
    package func snapshot() -> MemberSnapshot {
        owner.check()
        return member.core.snapshot()
    }

    /// Replaces the clients if their certificate files have changed.
    package func renew() {
        owner.check()
        member.core.renew(at: MemberClock.now())
    }

    /// Leaves the group, and waits for the output that is being written, which gives up soon.
    package func close() {
        owner.check()
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
