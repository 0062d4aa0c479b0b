internal import DeviceLab
package import KafkaPorts
package import Member
package import Streams

/// The process's fault in the middle of a call.
package enum Interlude: Sendable { case slow, paused }

/// One process of a fleet as its client library sees it: its faults, its clients, its death.
///
/// Nothing of a member's rules is here or in the clients: they do what librdkafka does, its traps included.
package final class SimulatedProcess {
    /// The transactional id's owner, and the assignor's sort key.
    package let name: String
    /// nil = dynamic membership.
    let instance: String?
    let broker: SimulatedBroker
    var random: SeededRandom
    package var chances: FaultChances
    /// A slow leader of a topic answers one poll of so many.
    package var slowPaces = SimulatedProcess.rare
    package static let (rare, often) = ([24, 24, 100], [3, 6, 12])
    /// Runs the other processes while a call waits.
    package var interlude: ((Interlude) -> Void)?
    /// Runs a job when the seed says so, as another thread would; ``runJob()`` unless it is set.
    package var later: ((@escaping () -> Void) -> Void) = { _ in }
    /// Lets time pass, and the others work: of a process whose calls wait, such as a command's.
    package var wait: ((_ milliseconds: Int) -> Void)?
    package private(set) var isDead = false
    /// Whether a job of the writer is under way.
    package internal(set) var isWriting = false
    /// Its copies of ledgers; nil = it keeps none.
    package var disk: SimulatedDisk?
    /// Whether a batch's output is written in a transaction.
    private(set) var isAtomic = true
    /// The brokers answer no query of this process until the world is calm.
    var isBrokerSilent = false
    /// When its members were fenced.
    package internal(set) var fences: [Int64] = []
    /// How long a partition that it reads may give nothing, in milliseconds; nil = as a worker's.
    package var mostSilence: Int64?
    /// The process has waited for a client that never ends: only its last act may take that long.
    var hasWaitedForEnd = false
    /// The world has given the process a reason to end.
    package var mayEnd = false
    /// The member has heard of an assignment since its last question: it asks at once.
    var hasNewAssignment = false
    weak var consumer: SimulatedConsumer?
    weak var reader: SimulatedReader?
    /// Which membership polled which requests: by partition, in the order of offsets.
    private var polled: [Int32: [PolledSpan]] = [:]
    private var handedOut: [Int32: Int64] = [:]
    /// How often the files were renewed that clients read when they are made, and when they were.
    private(set) var renewals = 0
    private(set) var renewedAt: Int64 = 0
    private var clients = 0
    private var made: [Int64] = []
    private var jobs: [() -> Void] = []

    package init(name: String, isStatic: Bool, broker: SimulatedBroker, seed: UInt64, chances: FaultChances) {
        self.name = name
        instance = isStatic ? name : nil
        self.broker = broker
        self.chances = chances
        random = SeededRandom(seed: seed)
        later = { [unowned self] in jobs.append($0) }
    }

    /// Bytes unlike any others.
    package var makeIdentity: @Sendable () -> [UInt8] {
        { [broker] in broker.newIdentity() }
    }

    package var now: Moment { Moment(milliseconds: broker.now) }

    /// Of the present consumer, for its heartbeats.
    package var groupID: Int? { isDead ? nil : consumer?.heartbeatID }

    /// Whether its member of the group is fenced, or its client has failed for good.
    package var hasUselessClient: Bool { !isDead && consumer?.isFenced == true }

    package func kill() { isDead = true }

    /// Runs one of the jobs that nobody else runs. - Returns: false where there is none.
    package func runJob() -> Bool {
        guard !jobs.isEmpty else { return false }
        jobs.remove(at: random.below(jobs.count))()
        return true
    }

    /// All that a member needs.
    package func ports(_ settings: OutputWriter.Settings) -> MemberPorts {
        isAtomic = settings.delivery == .transaction
        let queries = SimulatedQueries(self)
        var ports = MemberPorts(
            makeConsumer: { [unowned self] () throws(KafkaFault) in try groupConsumer() },
            makeReader: { [unowned self] () throws(KafkaFault) in
                try noteClient()
                return SimulatedReader(self)
            },
            queries: queries,
            writer: SimulatedWriterHost(self, settings)
        )
        ports.makeStandbyReader = { [unowned self] () throws(KafkaFault) in
            try noteClient()
            return SimulatedReader(self, isStandby: true)
        }
        ports.files = disk
        return ports
    }

    /// A producer for the writer.
    package func makeProducer(_ settings: OutputWriter.Settings) throws(KafkaFault) -> OutputWriter.Producer {
        try noteClient()
        switch settings.delivery {
        case .transaction: return .transactional(SimulatedTransactionProducer(self, settings.transactionalID))
        case .atLeastOnce: return .idempotent(SimulatedProducer(self, settings.transactionalID))
        }
    }

    /// A producer with a transactional id that is not the process's own.
    func transactions(_ id: String) throws(KafkaFault) -> any TransactionProducer {
        try noteClient()
        return SimulatedTransactionProducer(self, id)
    }

    /// A member of the broker's group; it reads the requests, or what stands in their place.
    package func groupConsumer() throws(KafkaFault) -> any GroupConsumer {
        try noteClient()
        return SimulatedConsumer(self)
    }

    /// A reader of a topic of outputs.
    package func recordReader(of stream: OutputTopic) throws(KafkaFault) -> any RecordReading {
        try noteClient()
        return SimulatedReader(self, of: stream)
    }

    /// The client tells its member of a fault.
    package func report(_ fault: KafkaFault) { consumer?.faults.append(fault) }

    /// Files are renewed that clients have read.
    package func renewFiles() {
        (renewals, renewedAt) = (renewals + 1, broker.now)
        broker.counts.add(.renewed)
    }

    // MARK: clients

    private static let mostClients = 6
    private static let mostPerMinute = 60

    private func noteClient() throws(KafkaFault) {
        guard !isDead else { throw .ofDeadProcess }
        clients += 1
        made = made.filter { broker.now - $0 < 60_000 } + [broker.now]
        if clients > Self.mostClients { violate("has \(clients) clients") }
        if made.count > Self.mostPerMinute + Self.mostClients {
            violate("has made \(made.count) clients in a minute")
        }
    }

    /// A client is discarded or closed. - Returns: whether it ends; else it stays, and what it has sent arrives late.
    func forgetClient() -> Bool {
        clients -= 1
        guard chance(chances.client.neverEnds) else { return true }
        broker.counts.add(.clientNeverEnds)
        return false
    }

    // MARK: calls

    /// The beginning of a call. - Returns: false where the process is dead, or dies here.
    func enter(mayWait: Bool = false) -> Bool {
        guard !isDead else { return false }
        if hasWaitedForEnd { violate("goes on after it waited for a client that never ends") }
        // Members make more calls than an imitation of one.
        if chance(chances.crash * Self.share) {
            broker.counts.add(.crashInCall)
            broker.counts.note("\(name) dies in a call")
            isDead = true
            return false
        }
        guard mayWait else { return true }
        if chance(chances.slow * Self.share) { interlude?(.slow) }
        if chance(chances.pause * Self.share) { interlude?(.paused) }
        return !isDead
    }

    static let share = 0.4

    /// Something has happened that must never happen.
    func violate(_ text: String) {
        broker.violations.append("\(name) \(text)")
        broker.counts.note("\(broker.now) \(name) \(text)")
    }

    func chance(_ share: Double) -> Bool { random.chance(share) }

    func strikes(_ kind: FaultKind, _ share: Double) -> Bool {
        guard chance(share) else { return false }
        broker.counts.add(kind)
        return true
    }

    // MARK: what was polled

    private struct PolledSpan {
        let start: Int64
        var end: Int64
        let stamp: SimulatedGroup.Stamp
    }

    func notePolled(_ partition: Int32, _ offsets: Range<Int64>, _ stamp: SimulatedGroup.Stamp) {
        var spans = (polled[partition] ?? []).filter { $0.start < offsets.lowerBound }
        if let last = spans.last, last.end > offsets.lowerBound { spans[spans.count - 1].end = offsets.lowerBound }
        if let last = spans.last, last.stamp == stamp {
            spans[spans.count - 1].end = offsets.upperBound
        } else {
            spans.append(PolledSpan(start: offsets.lowerBound, end: offsets.upperBound, stamp: stamp))
        }
        polled[partition] = spans
        if offsets.lowerBound <= handedOut[partition, default: -1] { broker.counts.add(.redelivered) }
        handedOut[partition] = max(handedOut[partition, default: -1], offsets.lowerBound)
    }

    /// Under which membership the last request before an offset was polled; nil = none was.
    func polledStamp(_ partition: Int32, before offset: Int64) -> SimulatedGroup.Stamp? {
        (polled[partition] ?? []).last { $0.start < offset }?.stamp
    }
}

extension KafkaFault {
    static let ofDeadProcess = KafkaFault.fatal("the process is dead")
}

/// A member's identity at one moment.
final class SimulatedToken: MemberToken, @unchecked Sendable {
    // Confined to the test's thread, as all of a fleet.
    let stamp: SimulatedGroup.Stamp
    /// Whether the member has heard that this membership is over.
    var isKnownLost = false

    init(_ stamp: SimulatedGroup.Stamp) { self.stamp = stamp }

    /// Of a process that is no member.
    static let ofNobody = SimulatedToken(SimulatedGroup.Stamp.nobody)
}
