internal import Kafka
internal import KafkaPorts
internal import Log
internal import Settings

/// Reads the ledger topic's partitions from where a kept ledger ends to the end offset at the time of asking.
///
/// The end is the high watermark, records of open transactions included: the last stable offset could miss the last
/// commit of the previous owner, whose marker may still be on its way. Partitions with known ends are read while the
/// ends of others are still being asked for.
final class LedgerRestore {
    private var reader: TopicReader
    private let known: [Int32: Int64]
    private let questions: Questions
    private let asker: PartitionEnds
    private let topic: String
    private let requests: String
    private let properties: KafkaProperties
    private var damages = Damages()
    private var question: Question<EndAnswers>?
    /// Whether the question is about partitions that are being read, too.
    private var asksAgain = false
    private var pause = RetryPause()
    private var trouble: KafkaFault?
    private var requestEnds: [Int32: Watermarks] = [:]
    /// Partitions whose ends are not known yet.
    private var unasked: [Int32]
    private var targets: [Int32: Int64] = [:]
    /// The next offset of each partition that has not reached its target yet.
    private var positions: [Int32: Int64] = [:]
    /// When a position last moved, or the ends of partitions that are being read were last asked for.
    private var moved = ContinuousClock.now

    /// - Parameter known: offsets up to which a partition's ledger is known; the others are read from the beginning.
    /// - Throws: a ``KafkaFault`` about the settings; nothing is asked here.
    init(
        _ settings: BrokerSettings,
        partitions: [Int32],
        known: [Int32: Int64],
        questions: Questions
    ) throws(KafkaFault) {
        guard let topic = settings.topics.outputs[.ledger] else { throw .fatal("no topic is set for the ledger") }
        self.topic = topic
        requests = settings.topics.requests
        self.known = known
        self.questions = questions
        properties = try settings.readerProperties()
        reader = try TopicReader(properties, topic: topic)
        asker = try PartitionEnds(properties)
        unasked = partitions
    }

    var isComplete: Bool { unasked.isEmpty && positions.isEmpty }

    /// Offsets left to read of each partition whose end is known.
    var remaining: [Int32: Int64] {
        positions.reduce(into: [:]) { $0[$1.key] = max(0, (targets[$1.key] ?? 0) - $1.value) }
    }

    /// The end that a partition was read up to.
    func end(of partition: Int32) -> Int64? { targets[partition] }

    /// The requests' first and last offsets as of the question: asked after the ledger, so that no mark read here lies
    /// beyond their ends.
    func takeRequestEnds() -> [Int32: Watermarks] {
        defer { requestEnds = [:] }
        return requestEnds
    }

    /// The last fault of a question; the question is asked again.
    func takeTrouble() -> KafkaFault? { trouble.take() }

    /// Reads records, and reports the partitions that are complete with them.
    func read(_ records: Int, timeoutMilliseconds: Int, into round: inout RestoreRound) throws(KafkaFault) {
        if !unasked.isEmpty || question != nil || isStill {
            try ask(positions.isEmpty ? timeoutMilliseconds : 0, &round)
        }
        if !positions.isEmpty { try readOn(records, timeoutMilliseconds, &round) }
        round.remaining = positions.reduce(Int64(unasked.count)) { $0 + max(0, (targets[$1.key] ?? 0) - $1.value) }
    }

    /// An open transaction holds the restore up, or the topic was cut and never reaches the end that was asked for: it
    /// is asked for once more.
    private var isStill: Bool { !positions.isEmpty && moved.duration(to: .now) > Self.standstill }

    private func readOn(_ records: Int, _ timeout: Int, _ round: inout RestoreRound) throws(KafkaFault) {
        do throws(KafkaFault) {
            round.records = wanted(try reader.pollPacked(maxRecords: records, timeoutMilliseconds: timeout))
        } catch {
            guard error.isDamage, let partition = error.partition, let position = positions[partition] else {
                throw error
            }
            return try readAgain(partition, damages.note(partition, at: position) ? error : nil, &round)
        }
        for partition in positions.keys.sorted() {
            guard let position = reader.position(of: partition) else { continue }
            if positions[partition] != position { moved = .now }
            positions[partition] = position
            guard position >= targets[partition] ?? 0 else { continue }
            positions[partition] = nil
            round.completed.append(partition)
        }
        try reader.stop(round.completed)
    }

    /// Records up to the ends that were asked for: this process may have written what lies behind them.
    private func wanted(_ read: LedgerChunk) -> StoredRecords {
        var places: [StoredRecords.Place] = []
        places.reserveCapacity(read.offsets.count)
        var last: (partition: Int32, target: Int64) = (-1, 0)
        for (place, offset) in zip(read.records.places, read.offsets) {
            // Records come in runs of one partition.
            if place.partition != last.partition { last = (place.partition, targets[place.partition] ?? 0) }
            if offset < last.target { places.append(place) }
        }
        return StoredRecords(bytes: read.records.bytes, places: places)
    }

    /// The library has skipped what it could not read: records after the gap must not be taken for the next ones.
    ///
    /// - Parameter damage: damage beyond doubt; nil = a second read may succeed.
    private func readAgain(
        _ partition: Int32,
        _ damage: KafkaFault?,
        _ round: inout RestoreRound
    ) throws(KafkaFault) {
        if let damage {
            positions[partition] = nil
            round.damaged.append(PartitionDamage(partition: partition, cause: damage.message, isLedger: true))
        }
        reader = try TopicReader(properties, topic: topic)
        try reader.start(positions.map { PartitionOffset(partition: $0.key, offset: $0.value) })
    }

    private func ask(_ wait: Int, _ round: inout RestoreRound) throws(KafkaFault) {
        guard pause.isOver else { return Questions.rest(min(wait, pause.leftMilliseconds)) }
        let question = question ?? ask()
        self.question = question
        guard let answers = try question.answer(min(wait, Self.sliceMilliseconds)) else { return }
        self.question = nil
        if asksAgain { moved = .now }
        trouble = answers.fault
        if answers.fault != nil { pause.fail() } else { pause.succeed() }
        requestEnds = answers.requests
        try begin(answers.ends, &round)
    }

    /// The client that asks is used by this question only.
    private func ask() -> Question<EndAnswers> {
        nonisolated(unsafe) let asker = asker
        let topics = (ledger: topic, requests: requests)
        let unasked = unasked
        asksAgain = isStill
        let again = asksAgain ? positions.keys.shuffled() : []
        return questions.ask { () throws(KafkaFault) in unsafe EndAnswers(asker, topics, unasked, again) }
    }

    private func begin(_ ends: [Int32: Watermarks], _ round: inout RestoreRound) throws(KafkaFault) {
        var starts: [PartitionOffset] = []
        for (partition, ends) in ends.sorted(by: { $0.key < $1.key }) {
            if let target = targets[partition] {
                try requireEnd(of: partition, ends.high, target)
                continue
            }
            var start = max(known[partition] ?? ends.low, ends.low)
            // The topic ends before the known offset, as after an unclean election: other records may have been written
            // at the same offsets since. It is read from the beginning.
            if start > ends.high {
                round.dropped.insert(partition)
                start = ends.low
            }
            targets[partition] = ends.high
            if start < ends.high {
                positions[partition] = start
                starts.append(PartitionOffset(partition: partition, offset: start))
            } else {
                round.completed.append(partition)
            }
        }
        if !starts.isEmpty { moved = .now }
        unasked.removeAll { ends[$0] != nil }
        try reader.start(starts)
    }

    /// - Throws: a ``KafkaFault`` that asks for an abort: what was read of a partition that was cut does not count.
    private func requireEnd(of partition: Int32, _ high: Int64, _ target: Int64) throws(KafkaFault) {
        guard high < target, positions[partition] != nil else { return }
        throw .stale(
            "the ledger topic's partition \(partition) ended at \(target) when its restore began and ends at \(high) now: "
                + "truncated or recreated; it is read again"
        )
    }

    private static let sliceMilliseconds = 250
    private static let standstill = Duration.seconds(10)
}
