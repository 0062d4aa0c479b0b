internal import DeviceLab
internal import Pipeline
package import Streams

/// One Kafka cluster in memory under a seed, shared by all members of a fleet: requests, outputs, the ledger topic, a
/// group and a transaction coordinator. Time is simulated, in milliseconds since the start.
package final class SimulatedBroker: @unchecked Sendable {
    // Confined to the test's thread, with all that uses it.
    package struct Limits: Sendable {
        package var sessionTimeout: Int64 = 10_000
        package var rebalanceTimeout: Int64 = 30_000
        package var transactionTimeout: Int64 = 15_000
        /// The share of decided transactions whose markers take their time.
        package var slowMarkers = 0.0
        package init() {}
    }

    package struct Topic: Hashable, Sendable {
        package let stream: OutputTopic
        package let partition: Int32
        package init(_ stream: OutputTopic, _ partition: Int32) {
            self.stream = stream
            self.partition = partition
        }
    }

    /// A ledger that has lost records.
    struct CutLedger {
        /// Its end behind the cut.
        let end: Int
        /// Whether committed facts are among what is lost.
        let isSure: Bool
    }

    package let partitions: [Int32]
    package let limits: Limits
    /// Requests whose results are never taken, as one that is too large would not be; their dead letters are.
    package let refused: Set<RecordPlace>
    package let counts: FaultCounts
    /// What was sent, whatever becomes of it.
    let sent: [Int32: [InboundRecord]]
    /// What is wrong about this model, in a test of the scripts.
    package var wrong: WrongModel? { didSet { group.wrong = wrong } }
    var input: [Int32: [InboundRecord]]
    var random: SeededRandom
    package private(set) var now: Int64 = 0
    package var group: SimulatedGroup
    package internal(set) var logs: [Topic: PartitionLog] = [:]
    package internal(set) var committed: [Int32: Int64] = [:]
    /// The text beside an offset that a transaction has committed.
    var metadata: [Int32: [UInt8]] = [:]
    /// Partitions whose offset a worker committed, with the worker's metadata.
    package internal(set) var ownOffsets: Set<Int32> = []
    /// `group.id`.
    package internal(set) var groupName = "fleet"
    /// How many requests of a partition can be read already.
    package internal(set) var available: [Int32: Int] = [:]
    /// The values of ledger records that came late, behind newer ones, by their keys: at least once, nothing is promised of
    /// these.
    package internal(set) var lateFacts: [[UInt8]: [[UInt8]?]] = [:]
    /// At least once: how far the owner of each partition has marked it as applied.
    var appliedByOwner: [Int32: Int64] = [:]
    /// Events that must never reach a broker.
    package internal(set) var violations: [String] = []
    var producers: [String: Producer] = [:]
    var transactions: [Transaction] = []
    var delayed: [DelayedEnd] = []
    /// Producers that an heir has fenced, and that do not know it yet.
    var fencedByHeirs: Set<String> = []
    /// Copies of requests that were answered already, still on their way.
    var late: [LateRequest] = []
    /// Requests of given-up calls, and when they arrive.
    var lateEffects: [LateEffect] = []
    /// What the world has done: ledgers that were cut, and to which length; requests that are others, or gone unread.
    var cutLedgers: [Int32: CutLedger] = [:]
    var recreatedRequests: Set<Int32> = []
    var overtaken: Set<Int32> = []
    /// How many partitions the topics have, as the brokers say.
    var shownPartitions: Int
    private(set) var hasCompacted = false
    /// How many identities of ledgers were made.
    private var identities = 0
    /// Offsets of transactions count for nothing.
    var dropsOffsets = false
    /// The brokers' time when the simulated time begins.
    var start: Int64 = 0
    /// Whether the ledger's topic has the brokers' times.
    package internal(set) var tellsLedgerTimes = true
    /// How far the processes' wall clocks are off.
    var clockStep: Int64 = 0
    /// Requests whose bytes are damaged on the broker's disk.
    package var damagedRequests: Set<RecordPlace> = []

    /// - Parameters:
    ///   - records: per partition in offset order.
    ///   - partitions: nil = those of the records.
    package init(
        records: [InboundRecord],
        partitions: Int32? = nil,
        seed: UInt64,
        limits: Limits = Limits(),
        refused: Set<RecordPlace> = [],
        counts: FaultCounts = FaultCounts()
    ) {
        input = Dictionary(grouping: records, by: \.partition)
        sent = input
        self.partitions = partitions.map { Array(0..<$0) } ?? input.keys.sorted()
        shownPartitions = self.partitions.count
        self.limits = limits
        self.refused = refused
        self.counts = counts
        random = SeededRandom(seed: seed)
        group = SimulatedGroup(
            partitions: self.partitions,
            sessionTimeout: limits.sessionTimeout,
            rebalanceTimeout: limits.rebalanceTimeout
        )
    }

    /// The brokers' clocks, in milliseconds since 1970.
    package var time: Int64 { start + now }

    /// Of a cluster that another one replaces.
    package func continueTime(of other: SimulatedBroker) {
        (start, now, tellsLedgerTimes) = (other.start, other.now, other.tellsLedgerTimes)
    }

    /// How many partitions the topics have, as the brokers say.
    package var shownPartitionCount: Int { shownPartitions }

    /// Lets time pass: sessions and transactions run out, rebalances end, markers are written.
    package func advance(by milliseconds: Int64) {
        now += milliseconds
        let expired = group.expired
        group.advance(to: now)
        counts.add(.sessionExpired, group.expired - expired)
        timeOutTransactions()
        endDelayed()
        arrive()
        writeMarkers()
    }

    func newIdentity() -> [UInt8] {
        identities += 1
        return [UInt8](repeating: 0, count: 14) + [UInt8(identities >> 8 & 0xFF), UInt8(identities & 0xFF)]
    }

    /// Joins the group. - Returns: the member's id.
    func join(name: String, instance: String?) -> Int {
        let takeovers = group.takeovers
        defer { counts.add(.staticTakeover, group.takeovers - takeovers) }
        return group.join(name: name, instance: instance, at: now)
    }

    /// Lets one more request be read. - Returns: false when all of them can be.
    package func offerOne() -> Bool {
        let open = partitions.filter { available[$0, default: 0] < (input[$0]?.count ?? 0) }
        guard let partition = open.randomElement(using: &random) else { return false }
        available[partition, default: 0] += 1
        return true
    }

    package func offerAll() { for partition in partitions { available[partition] = input[partition]?.count ?? 0 } }

    /// The requests of a partition from an offset on, as far as they can be read.
    func requests(_ partition: Int32, from offset: Int64) -> ArraySlice<InboundRecord> {
        let all = (input[partition] ?? [])[0..<available[partition, default: 0]]
        guard let start = all.firstIndex(where: { $0.offset >= offset }) else { return [] }
        return all[start...]
    }

    /// A topic whose records were deleted keeps counting offsets; one that was recreated begins again.
    func emptyOffset(_ partition: Int32) -> Int64 {
        recreatedRequests.contains(partition) ? 0 : committed[partition, default: 0]
    }

    /// From the oldest request to the end of those that can be read.
    func readableOffsets(_ partition: Int32) -> ClosedRange<Int64> {
        let all = input[partition] ?? []
        let low = all.first?.offset ?? emptyOffset(partition)
        let count = available[partition, default: 0]
        return low...(count > 0 ? max(low, all[min(count, all.count) - 1].offset + 1) : low)
    }

    /// The offset after the last request of a partition.
    package func end(_ partition: Int32) -> Int64 { (input[partition]?.last?.offset ?? -1) + 1 }

    /// Whether every request's position is committed and no transaction is under way.
    ///
    /// - Parameter held: partitions whose requests may be left unread.
    func isDrained(but held: Set<Int32>) -> Bool {
        partitions.allSatisfy { held.contains($0) || committed[$0, default: 0] == end($0) }
            && transactions.allSatisfy(\.isDone) && !group.isRebalancing
    }

    /// All that read_committed readers of a stream see, by partition.
    package func visible(_ stream: OutputTopic) -> [Int32: [OutboundRecord]] {
        Dictionary(uniqueKeysWithValues: partitions.map { ($0, logs[Topic(stream, $0)]?.visible ?? []) })
    }

    /// The replies that a read_committed reader sees, of every partition.
    package var visibleReplies: [OutboundRecord] {
        logs.filter { $0.key.stream == .replies }.sorted { $0.key.partition < $1.key.partition }
            .flatMap(\.value.visible)
    }

    package func compact(_ partition: Int32) {
        counts.add(.compaction)
        hasCompacted = true
        logs[Topic(.ledger, partition)]?.compact()
    }

    /// The offset up to which at-least-once delivery has applied a partition, as its ledger says.
    func appliedOffset(_ partition: Int32) -> Int64 {
        lastMark(partition)?.position.skipsBefore ?? 0
    }

    func log(_ stream: OutputTopic, _ partition: Int32) -> PartitionLog {
        logs[Topic(stream, partition)] ?? PartitionLog()
    }

    func note(_ positions: [Int32: Int64]) {
        for (partition, offset) in positions.sorted(by: { $0.key < $1.key }) {
            counts.note("\(now) offset \(offset) of \(partition)")
        }
        for (partition, offset) in positions {
            if offset < committed[partition, default: 0] {
                violations.append("partition \(partition) went back from \(committed[partition] ?? 0) to \(offset)")
            }
            committed[partition] = offset
            ownOffsets.insert(partition)
        }
    }
}
