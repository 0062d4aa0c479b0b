internal import BrokerKit
internal import Streams

/// An operator of a run: forgets the group's offsets or moves them back, sets quotas, and repairs it by the runbook. For
/// one thread at a time.
final class ChaosOperator {
    /// The workers' `client.id`, to which quotas apply.
    static let clientID = "chaos-workers"

    let cluster: RealCluster
    let workplace: ProgramWorkplace
    private let log: (String) -> Void
    /// When the quota ends.
    private var quotaEnds: ContinuousClock.Instant?
    /// Mistakes that did not stop the workers, and repairs that did not succeed.
    private(set) var findings: [String] = []

    /// Static members stay in a group until their session ends, and only then can its offsets be changed.
    private static let groupLimit = Duration.seconds(60)
    private static let heldTime = Duration.seconds(8)

    init(_ cluster: RealCluster, _ workplace: ProgramWorkplace, log: @escaping (String) -> Void) {
        (self.cluster, self.workplace, self.log) = (cluster, workplace, log)
    }

    /// No quota is set.
    var isDone: Bool { quotaEnds == nil }

    /// Injects a fault. - Returns: a description; nil if it does not fit now.
    ///
    /// - Parameters:
    ///   - crew: whole; its workers end, and start again.
    ///   - tick: lets time pass for everything else.
    func apply(_ planned: PlannedFault, _ crew: ChaosCrew, tick: () throws -> Void) throws -> String? {
        switch planned.fault {
        case .quota: return try setQuota(planned)
        case .offsetsDeleted: return try mistake(["--delete-offsets"], crew, tick)
        case .offsetsMovedBack: return try mistake(["--reset-offsets", "--to-earliest", "--execute"], crew, tick)
        default: return nil
        }
    }

    /// - Returns: whether a quota came to its end.
    func tick() throws -> Bool {
        guard let end = quotaEnds, ContinuousClock.now >= end else { return false }
        try cluster.configure("clients", Self.clientID, "--delete-config", "producer_byte_rate")
        quotaEnds = nil
        return true
    }

    // MARK: Quotas

    private func setQuota(_ planned: PlannedFault) throws -> String? {
        guard quotaEnds == nil else { return nil }
        let rate = 20_000 + Int(planned.target % 130_000)
        let length = Duration.seconds(10 + 10 * planned.length)
        try cluster.configure("clients", Self.clientID, "--add-config", "producer_byte_rate=\(rate)")
        quotaEnds = .now + length
        return "quota of \(rate) bytes a second on each broker for \(length.text)"
    }

    // MARK: Offsets

    /// Changes the group's offsets while no worker runs, lets the workers meet them, and repairs them.
    private func mistake(_ change: [String], _ crew: ChaosCrew, _ tick: () throws -> Void) throws -> String? {
        let names = try crew.leave(tick)
        var begun: Set<Int32> = []
        try retrying(tick) { begun = try workplace.drainWatch().begun() }
        try retrying(tick) {
            let offsets = ["--group", workplace.group, "--topic", workplace.requests]
            let said = try cluster.tool(.groups, offsets + change)
            // The tool exits with 0 even on a failure, for example if the group has members.
            guard !said.contains("Error") else { throw ClusterFault(description: said) }
        }
        // Where nothing of the present topic was answered (a quota may have left no time), its beginning contradicts nothing.
        let before = try outcomes().filter { begun.contains($0.key) }
        try letHold(change[0], before, crew, tick)
        try reset(to: "--to-applied", tick)
        try crew.come()
        return "\(change[0]) while \(names.joined(separator: ", ")) were down; repaired by reset --to-applied"
    }

    /// Lets the workers run for a while: they must answer nothing.
    func letHold(_ mistake: String, _ before: [Int32: Int], _ crew: ChaosCrew, _ tick: () throws -> Void) throws {
        try crew.come()
        let end = ContinuousClock.now + Self.heldTime
        while ContinuousClock.now < end { try tick() }
        // A partition that has had no request yet may begin.
        let after = try outcomes().filter { before[$0.key] != nil }
        if after != before { note("\(mistake): outcomes from \(before) to \(after)") }
        _ = try crew.leave(tick)
    }

    /// How many results each partition has. Ends say less: the end of an aborted transaction moves them too.
    func outcomes() throws -> [Int32: Int] {
        var counts: [Int32: Int] = [:]
        try TopicDump.read(workplace.topic("results"), workplace.properties, partitions: workplace.partitions) {
            counts[$0.partition, default: 0] += 1
        }
        return counts
    }

    func retrying(_ tick: () throws -> Void, _ body: () throws -> Void) throws {
        let deadline = ContinuousClock.now + Self.groupLimit
        while true {
            do { return try body() } catch {
                guard ContinuousClock.now < deadline else { throw error }
            }
            let pause = ContinuousClock.now + .seconds(1)
            while ContinuousClock.now < pause { try tick() }
        }
    }

    private func note(_ finding: String) {
        findings.append(finding)
        log("FINDING \(finding)")
    }
}
