import KafkaPorts
import Streams

@testable import Member

/// A consumer whose events the test has written down.
final class ScriptedConsumer: GroupConsumer {
    var events: [GroupEvent] = []
    var isAssignmentLost = false
    var hasOpenCommit = false
    /// What the next seek ends with.
    var seekFault: SeekFault?
    /// Calls that the library answers, in order.
    var calls: [String] = []
    private(set) var committed: [[PartitionOffset]] = []
    private(set) var isClosed = false
    private var assigned: Set<Int32> = []

    func subscribe() {}
    func poll(waiting milliseconds: Int) -> GroupEvent? { events.isEmpty ? nil : events.removeFirst() }
    func assign(_ starts: [PartitionOffset]) {
        calls.append("assign \(starts.count)")
        assigned = Set(starts.map(\.partition))
    }
    func unassign() { assigned = [] }
    func assignment() -> Set<Int32> {
        calls.append("assignment")
        return assigned
    }
    func pause(_ partitions: [Int32]) -> [Int32: KafkaFault] {
        calls.append("pause")
        return [:]
    }
    func resume(_ partitions: [Int32]) -> [Int32: KafkaFault] {
        calls.append("resume")
        return [:]
    }
    func seek(_ starts: [PartitionOffset], limit milliseconds: Int) -> [Int32: SeekFault] {
        calls.append("seek")
        guard let fault = seekFault.take() else { return [:] }
        return Dictionary(uniqueKeysWithValues: starts.map { ($0.partition, fault) })
    }
    func wake(_ partitions: [Int32], limit milliseconds: Int) {}
    func commit(_ offsets: [PartitionOffset]) -> CommitID {
        committed.append(offsets)
        return CommitID(committed.count)
    }
    func token() -> any MemberToken { TestToken() }
    var observations: ConsumerObservations { ConsumerObservations() }
    func explained(_ fault: KafkaFault) -> KafkaFault { fault }
    func close(limit milliseconds: Int) { isClosed = true }
    func discard() {}
}

/// A ledger of one partition whose committed records a test has written down.
final class ScriptedLedger: TopicReading {
    var chunks: [LedgerChunk] = []
    var positions: [Int32: Int64] = [:]
    /// What the next poll throws.
    var fault: KafkaFault?

    func start(_ starts: [PartitionOffset]) { for start in starts { positions[start.partition] = start.offset } }
    func stop(_ partitions: [Int32]) { for partition in partitions { positions[partition] = nil } }
    func poll(most records: Int, waiting milliseconds: Int) throws(KafkaFault) -> LedgerChunk {
        if let fault = fault.take() { throw fault }
        return chunks.isEmpty ? LedgerChunk() : chunks.removeFirst()
    }
    func position(of partition: Int32) -> Int64? { positions[partition] }
    func isAtEnd(of partition: Int32) -> Bool { true }
    func discard() {}
}

/// Copies of ledgers whose parts a test has written down.
final class ScriptedFiles: LedgerFiles {
    final class File: LedgerFile {
        let from: Int64
        let identity: [UInt8]
        var parts: [LedgerFilePart]

        init(from: Int64, identity: [UInt8], _ parts: [LedgerFilePart]) {
            (self.from, self.identity, self.parts) = (from, identity, parts)
        }

        func next(_ records: Int, mayWait: Bool) -> LedgerFilePart { parts.isEmpty ? .end : parts.removeFirst() }
    }

    var files: [Int32: File] = [:]
    private(set) var discarded: [Int32] = []

    func open(_ partition: Int32) -> (any LedgerFile)? { files[partition] }
    func discard(_ partition: Int32, _ reason: String) {
        discarded.append(partition)
        files[partition] = nil
    }
}

/// Answers every question at once, and writes down jobs.
final class ScriptedBrokers: BrokerQueries, WriterHost {
    private(set) var questions: [BrokerQuery] = []
    private(set) var jobs: [WriterJob] = []
    var outcomes: [WriterOutcome] = []
    /// Partitions whose offset a transaction holds back.
    var unstable: Set<Int32> = []
    /// The end of each ledger; nil = its leader is absent.
    var ledgerEnd: Int64?
    var members: Set<[UInt8]> = []
    var abortFault: KafkaFault?
    /// The numbers of partitions that the ledger's marks name.
    var marked: Set<Int32>?
    /// What every question gets.
    var fault: KafkaFault?
    private var answers: [(id: QueryID, answer: Result<BrokerAnswer, KafkaFault>)] = []

    func ask(_ query: BrokerQuery) -> QueryID {
        questions.append(query)
        let id = QueryID(questions.count)
        if let fault {
            answers.append((id, .failure(fault)))
            return id
        }
        switch query {
        case .topics: answers.append((id, .success(.topics([]))))
        case .topicsAndMarks: answers.append((id, .success(.topicsAndMarks([], marked: marked))))
        case .offsets(let partitions, _) where !unstable.isDisjoint(with: partitions):
            answers.append((id, .failure(.timedOut("a transaction is open"))))
        case .offsets(let partitions, _):
            let offsets = partitions.map { CommittedOffset(partition: $0, offset: nil) }
            answers.append((id, .success(.offsets(offsets, hasAny: true))))
        case .ledgerEnds(let partitions), .ends(let partitions, _):
            guard let ledgerEnd else {
                answers.append((id, .failure(.timedOut("the ledger's leader is absent"))))
                break
            }
            let ends = Dictionary(uniqueKeysWithValues: partitions.map { ($0, Watermarks(low: 0, high: ledgerEnd)) })
            answers.append((id, .success(.ends(ledger: ends, requests: [:], nil))))
        case .members: answers.append((id, .success(.members(members))))
        case .abortTransaction: answers.append((id, abortFault.map { .failure($0) } ?? .success(.aborted)))
        }
        return id
    }
    func forget(_ query: QueryID) { answers.removeAll { $0.id == query } }
    func nextAnswer() -> (id: QueryID, answer: Result<BrokerAnswer, KafkaFault>)? {
        answers.isEmpty ? nil : answers.removeFirst()
    }
    func close() {}

    func submit(_ job: WriterJob) {
        jobs.append(job)
        if case .takeOver = job { outcomes.append(.tookOver) }
    }
    func nextOutcome() -> WriterOutcome? { outcomes.isEmpty ? nil : outcomes.removeFirst() }
}

/// A member at a time of the test's own, on ports without any broker.
final class MemberBench {
    let member: KafkaMember
    let consumer = ScriptedConsumer()
    let brokers = ScriptedBrokers()
    let ledger = ScriptedLedger()
    /// The ledgers that a standby follows.
    let followed = ScriptedLedger()
    let files = ScriptedFiles()
    var now = Moment(milliseconds: 1_000)
    /// The partitions of others whose ledgers the loop has, whole or not; and those whose ledgers it keeps.
    var (told, whole): (Set<Int32>, Set<Int32>) = ([], [])

    /// - Parameters:
    ///   - partitions: of the topics at the start; nil = any.
    ///   - standbyLoops: see ``MemberSettings``.
    init(_ delivery: Delivery = .transaction, partitions: Int32? = nil, standbyLoops: Int? = nil) throws {
        var settings = MemberSettings(
            delivery: delivery,
            group: "group",
            stableID: "one",
            requests: "requests",
            ledger: "ledger",
            makeIdentity: { [9] }
        )
        (settings.partitions, settings.standbyLoops) = (partitions, standbyLoops)
        var ports = MemberPorts(
            makeConsumer: { [consumer] in consumer },
            makeReader: { [ledger] in ledger },
            queries: brokers,
            writer: brokers
        )
        ports.makeStandbyReader = { [followed] in followed }
        ports.files = files
        member = try KafkaMember(settings, ports, at: now)
    }

    /// Steps a few times, a millisecond each.
    func steps(_ count: Int = 8, with events: GroupEvent...) throws {
        consumer.events += events
        for _ in 0..<count {
            try member.step(at: now, servesGroup: true)
            now = now + 1
        }
    }

    /// Has asked everything of partition 0 but its ledger.
    func arrive() throws {
        try steps(with: .assigned([0]))
        precondition(member.membership.state == .owning, "every question was answered")
    }

    /// Owns partition 0, whose ledger is whole.
    func own() throws {
        try arrive()
        member.changes = []
        for event in [Partition.Event.restore, .ledgerProgress(.given(target: 0))] { member.partitions.takeAll(event) }
    }

    /// Owns partition 0 and reads it.
    func read() throws {
        try own()
        for event in [Partition.Event.start, .sought] { member.partitions.takeAll(event) }
    }

    /// Writes an output without records.
    func write() throws -> OutputBatch? {
        let generation = Generation(member.membership.generation)
        try member.write([], [PartitionPosition(partition: 0, offset: 0)], of: generation, at: now)
        guard case .write(let batch)? = brokers.jobs.last else { return nil }
        return batch
    }
}
