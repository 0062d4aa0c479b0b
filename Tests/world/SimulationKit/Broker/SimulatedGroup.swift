/// A consumer group of the eager protocol: generations, the range assignor, static membership, session time-outs.
package struct SimulatedGroup: Sendable {
    /// The member that commits, and its generation: KIP-447 fences by them.
    package struct Stamp: Hashable, Sendable {
        /// Of a process that is no member: its offsets are not fenced.
        package static let nobody = Stamp(member: 0, generation: -1)

        package let member: Int
        package let generation: Int

        package init(member: Int, generation: Int) {
            self.member = member
            self.generation = generation
        }
    }

    package enum Status: Equatable, Sendable {
        /// The group does not know the member (any more).
        case unknown
        /// Another member joined with its instance id.
        case fenced
        /// Every member has to give up its partitions and join again.
        case rebalancing
        case stable(generation: Int, partitions: [Int32])
    }

    private struct Member: Sendable {
        let instance: String?
        let name: String
        var lastHeard: Int64
        var hasJoined: Bool
    }

    /// What is wrong about this group, in a test of the scripts.
    var wrong: WrongModel?
    private let partitions: [Int32]
    private let sessionTimeout: Int64
    private let rebalanceTimeout: Int64
    private var members: [Int: Member] = [:]
    private var instances: [String: Int] = [:]
    private var fenced: Set<Int> = []
    private var assignment: [Int: [Int32]] = [:]
    private var nextID = 1
    /// Until when a rebalance waits for members; nil = stable.
    private var deadline: Int64?
    package private(set) var generation = 0
    /// Members whose session expired.
    package private(set) var expired = 0
    /// Restarts that kept their partitions without a rebalance.
    package private(set) var takeovers = 0

    /// - Parameters:
    ///   - sessionTimeout: milliseconds, as is `rebalanceTimeout`.
    package init(partitions: [Int32], sessionTimeout: Int64, rebalanceTimeout: Int64) {
        self.partitions = partitions
        self.sessionTimeout = sessionTimeout
        self.rebalanceTimeout = rebalanceTimeout
    }

    /// - Parameters:
    ///   - name: orders members for the assignor.
    ///   - instance: nil = dynamic membership.
    /// - Returns: the member's id.
    package mutating func join(name: String, instance: String?, at now: Int64) -> Int {
        let id = nextID
        nextID += 1
        let instance = wrong == .namesAreShared ? nil : instance
        var member = Member(instance: instance, name: name, lastHeard: now, hasJoined: true)
        if let instance, let old = instances.updateValue(id, forKey: instance), members[old] != nil {
            fenced.insert(old)
            members[old] = nil
            if deadline == nil {
                takeovers += 1
                member.hasJoined = false
                members[id] = member
                assignment[id] = assignment.removeValue(forKey: old)
                return id
            }
        }
        members[id] = member
        prepare(at: now)
        return id
    }

    /// Takes part in the rebalance that is under way, or starts one.
    package mutating func rejoin(_ id: Int, at now: Int64) {
        guard members[id] != nil else { return }
        members[id]?.hasJoined = true
        prepare(at: now)
    }

    package mutating func leave(_ id: Int, at now: Int64) {
        guard remove(id) else { return }
        prepare(at: now)
    }

    package mutating func heartbeat(_ id: Int, at now: Int64) { members[id]?.lastHeard = now }

    package func status(_ id: Int) -> Status {
        if fenced.contains(id) { return .fenced }
        guard let member = members[id] else { return .unknown }
        if deadline != nil { return member.hasJoined ? .stable(generation: -1, partitions: []) : .rebalancing }
        return .stable(generation: generation, partitions: assignment[id] ?? [])
    }

    /// Whether the member has the partition; one whose session is over has none, whatever it believes.
    package func owns(_ partition: Int32, _ id: Int) -> Bool {
        members[id] != nil && assignment[id]?.contains(partition) == true
    }

    /// Of the members that there are.
    package var names: Set<String> { Set(members.values.map(\.name)) }

    /// Whether a rebalance waits for a member, which knows of it.
    package func waits(for id: Int) -> Bool { deadline != nil && members[id]?.hasJoined == false }

    package var isRebalancing: Bool { deadline != nil }

    /// Whether offsets may be committed under a stamp.
    package func accepts(_ stamp: Stamp) -> Bool {
        if wrong == .anyTokenIsAccepted || stamp == .nobody { return true }
        return members[stamp.member] != nil && stamp.generation == generation
    }

    /// Removes members whose session has expired, and ends a rebalance past its timeout.
    package mutating func advance(to now: Int64) {
        let silent = members.filter { now - $0.value.lastHeard > sessionTimeout }.keys.sorted()
        for id in silent {
            expired += 1
            _ = remove(id)
            prepare(at: now)
        }
        complete(at: now)
    }

    private mutating func remove(_ id: Int) -> Bool {
        guard let member = members.removeValue(forKey: id) else { return false }
        assignment[id] = nil
        if let instance = member.instance, instances[instance] == id { instances[instance] = nil }
        return true
    }

    private mutating func prepare(at now: Int64) {
        if deadline == nil { deadline = now + rebalanceTimeout }
        complete(at: now)
    }

    private mutating func complete(at now: Int64) {
        let isWhole = members.values.allSatisfy(\.hasJoined) || wrong == .waitsForNobody
        guard let deadline, isWhole || now >= deadline else { return }
        for id in members.filter({ !$0.value.hasJoined }).keys.sorted() { _ = remove(id) }
        self.deadline = nil
        generation += 1
        assign()
    }

    /// The range assignor: contiguous shares, the first ones one larger.
    private mutating func assign() {
        let order = members.keys.sorted { (members[$0]?.name ?? "", $0) < (members[$1]?.name ?? "", $1) }
        assignment = [:]
        var start = 0
        for (index, id) in order.enumerated() {
            let share = partitions.count / order.count + (index < partitions.count % order.count ? 1 : 0)
            assignment[id] = Array(partitions[start..<(start + share)])
            start += share
            members[id]?.hasJoined = false
        }
    }
}
