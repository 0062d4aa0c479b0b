internal import AppAttest
internal import AppCheck
internal import Crypto
internal import JSON
package import Pipeline
package import Streams

/// The topics as read_committed readers see them once everything is drained.
package struct FleetReading: Sendable {
    /// Results and dead letters of each partition, in their order.
    package private(set) var outputs: [Int32: [OutboundRecord]] = [:]
    /// The ledger topic of each partition, compacted: what each key's last value is.
    package private(set) var ledgers: [Int32: [[UInt8]: [UInt8]]] = [:]
    /// Keys that have a tombstone, by their text.
    private(set) var tombstoned: Set<String> = []
    /// The same as a fresh reader restores it.
    package private(set) var restored: [Int32: PartitionLedger] = [:]
    /// The topic of receipts, compacted; nil = a tombstone.
    let receipts: [Int32: [[UInt8]: [UInt8]?]]
    /// The requests that have an event, as often as they have one.
    let events: [Int32: [Int64]]

    package init(_ broker: SimulatedBroker) throws {
        let (results, letters) = (broker.visible(.results), broker.visible(.deadLetters))
        for (partition, records) in broker.visible(.ledger) {
            outputs[partition] = (results[partition] ?? []) + (letters[partition] ?? [])
            var ledger = PartitionLedger()
            for record in records {
                ledgers[partition, default: [:]][record.key ?? []] = record.value
                let change = try LedgerCodec.decode(key: record.key ?? [], value: record.value)
                if case .keyForgotten(let id) = change { tombstoned.insert(FleetCheck.text(id)) }
                ledger.apply(change)
            }
            restored[partition] = ledger
        }
        receipts = broker.visible(.receipts).mapValues { records in
            Dictionary(records.map { ($0.key ?? [], $0.value) }) { $1 }
        }
        events = broker.visible(.events).mapValues { $0.map(\.sourceOffset) }
    }

    var results: [OutboundRecord] { outputs.values.joined().filter { $0.stream == .results } }

    /// Each request's first output.
    func firstOutputs() -> [RecordPlace: OutboundRecord] {
        Dictionary(outputs.values.joined().map { (Self.place($0), $0) }) { first, _ in first }
    }

    static func place(_ record: OutboundRecord) -> RecordPlace {
        RecordPlace(partition: record.partition, offset: record.sourceOffset)
    }

    /// The key records of each partition's topic.
    var keyRecords: [Int32: [[UInt8]: [UInt8]]] { ledgers.mapValues { $0.filter { $0.key.first == 1 } } }

    /// The bans of each partition that count at its last time, as a restored ledger has them. When an ended one is removed
    /// depends on the batches.
    var bans: [Int32: [Digest: Ban]] {
        restored.mapValues { ledger in ledger.bans.filter { $0.value.counts(at: ledger.streamTime) } }
            .filter { !$0.value.isEmpty }
    }

    /// The counter of each key as a restored ledger has it, by the record key's text.
    var counters: [String: UInt32] {
        var counters: [String: UInt32] = [:]
        for ledger in restored.values {
            ledger.keys.forEach { counters[String(decoding: $0.recordKey, as: UTF8.self)] = $1.counter }
        }
        return counters
    }
}

extension AnswerCounts.Event {
    /// Whether each record brings one of these.
    fileprivate var isOutcome: Bool {
        switch self {
        case .accepted, .refused, .deferred, .deadLetter: true
        default: false
        }
    }
}

/// The invariants, which must hold whatever happened. Each violation gives a sentence.
package struct FleetCheck {
    let fleet: SimulatedFleet
    let reading: FleetReading
    let calm: FleetReading
    package internal(set) var complaints: [String] = []
    /// At least once: keys that the page of guarantees makes no promise for, by their text. A crash cut their batch
    /// between its ledger records, and an assertion from before the attestation was accepted when the batch came again.
    /// Keys that were forgotten, too: a record of theirs that arrives late, behind the tombstone, brings them back, and a
    /// late tombstone takes them away.
    private(set) var early: Set<String> = []
    /// Those that memories and topic need not agree on.
    private var uncertain: Set<String> = []
    /// Those whose last request, attestation and metric memories and topic need not agree on: of two records with one counter the
    /// later stays.
    private var late: Set<String> = []
    /// Keys that an operator's command has forgotten: their counters begin again.
    private var forgotten: Set<String> = []
    /// Keys that have ended, likewise.
    private let ended: Set<String>

    /// - Parameter calm: what one worker without any trouble made of the same requests.
    package init(_ fleet: SimulatedFleet, calm: FleetReading) throws {
        self.fleet = fleet
        self.calm = calm
        reading = try FleetReading(fleet.broker)
        ended = fleet.settings.keys.expire ? reading.tombstoned.union(calm.tombstoned) : []
        complaints = fleet.breakdowns + fleet.broker.violations
        // No operator has touched the positions, so no partition may be held.
        for (partition, sentence) in fleet.holds.sorted(by: { $0.key < $1.key }) where !mayBeHeld(partition) {
            complaints.append("partition \(partition) is held: \(sentence)")
        }
        if fleet.plan.delivery == .atLeastOnce {
            late = keysThatCameLate()
            let forgotten = try Self.forgotten(in: calm).union(ended)
            early = try keysAcceptedEarly().union(forgotten).union(keysOfRefused()).union(late)
                .union(keysWhoseBanCameLate())
            uncertain = early
            // The higher counter stays in the topic as well as in memories until compaction has removed it.
            if !fleet.broker.hasCompacted { uncertain.subtract(late.subtracting(forgotten)) }
        }
        checkOutputs()
        try checkCounters()
        checkLedgers()
        checkEnded()
        checkMemories()
        checkCutLedgers()
        checkPartitionCounts()
        if fleet.settings.hasReceipts { try checkReceipts() }
        complaints += Self.replyComplaints(fleet, reading.results, partitions: FleetTraffic.replyPartitions)
        if fleet.plan.delivery == .exactlyOnce { checkCounts() }
    }

    /// No process counts what is not written; processes that end in order count all of it. One that gives its partitions
    /// back, or is stopped, after a commit without an answer never learns the outcome, nor does one whose ledger was cut.
    private mutating func checkCounts() {
        let tally = fleet.tally
        let counted = tally.answers.counts.reduce(0) { $1.key.event.isOutcome ? $0 + $1.value : $0 }
        let written = reading.outputs.values.reduce(0) { $0 + $1.count }
        // One that slept until its session was over may take another owner's batch for its own, in doubt as it is.
        if counted > written, tally.rebalances[.lost] == nil {
            complaints.append("\(counted) outcomes are counted, and \(written) written")
        }
        let misplaced = tally.answers.counts.filter { tally.answers.app(of: $0.key) == SimulatedFleet.otherApp }
        if !misplaced.isEmpty { complaints.append("counted for an app without requests: \(misplaced.map(\.value))") }
        let gaveBack = tally.rebalances[.lost] != nil || tally.rebalances[.revoked] != nil
        let mayBeUnknown = gaveBack || fleet.doubtfulStops > 0 || !fleet.broker.cutLedgers.isEmpty
        guard fleet.deaths == 0, !mayBeUnknown, counted < written else { return }
        complaints.append("only \(counted) outcomes of \(written) are counted")
    }

    /// Their assertion's first answer is the calm run's `unknown-key` or `banned`, and a later answer accepts it: the facts of
    /// the attestation, or of the unban, behind it were written, and the mark was not.
    private func keysAcceptedEarly() throws -> Set<String> {
        let (expected, first) = (calm.firstOutputs(), reading.firstOutputs())
        var keys: Set<String> = []
        var seen: Set<RecordPlace> = []
        for output in reading.results {
            let place = FleetReading.place(output)
            guard !seen.insert(place).inserted, try ReadResult(output).verdict == "accepted",
                let refusal = first[place], refusal == expected[place],
                let reason = try ReadResult(refusal).reason,
                reason == Reason.unknownKey.code || reason == Reason.banned.code
            else { continue }
            keys.insert(output.keyText)
        }
        return keys
    }

    /// What the broker refuses shows after the outputs behind it are visible, which were judged with it.
    private func keysOfRefused() -> Set<String> {
        let keys = fleet.plan.refused.compactMap { fleet.broker.requests($0.partition, from: $0.offset).first?.key }
        return Set(keys.map { String(decoding: $0, as: UTF8.self) })
    }

    /// A restore keeps the higher counter of two records of a key, until compaction has removed it.
    private func keysThatCameLate() -> Set<String> {
        let ids = fleet.broker.lateFacts.keys.compactMap { key in
            key.first == 1 ? Digest(Array(key.dropFirst())).map { KeyID($0) } : nil
        }
        return Set(ids.map(Self.text))
    }

    /// Keys whose ban, or its end, came late: it counts again for the requests behind it.
    private func keysWhoseBanCameLate() -> Set<String> {
        let keys = reading.outputs.values.joined().compactMap { $0.key.flatMap { KeyID(recordKey: $0) } }
        let late = Set(keys).filter {
            fleet.broker.lateFacts[LedgerCodec.encode(.banLifted(BanID.key($0))).key] != nil
        }
        return Set(late.map(Self.text))
    }

    /// The bans of each partition but those whose record came late: a late record of a ban, or of an unban, counts again.
    private func punctual(_ bans: [Digest: Ban]?) -> [Digest: Ban] {
        let isExact = fleet.plan.delivery == .exactlyOnce
        return (bans ?? [:]).filter { id, ban in
            isExact || fleet.broker.lateFacts[LedgerCodec.encode(.ban(id, ban)).key] == nil
        }
    }

    private func banned(_ reading: FleetReading) -> [Int32: Set<Digest>] {
        checked(reading.bans).mapValues { Set(punctual($0).keys) }.filter { !$0.value.isEmpty }
    }

    /// Keys whose counter in the topic is that of a late record.
    private func keysThatCameLate(with ledger: PartitionLedger?) -> Set<KeyID> {
        var keys: Set<KeyID> = []
        for (key, values) in fleet.broker.lateFacts {
            for value in values {
                guard case .key(let id, let record)? = try? LedgerCodec.decode(key: key, value: value),
                    record.counter == ledger?.keys[id]?.counter
                else { continue }
                keys.insert(id)
            }
        }
        return keys
    }

    private static func forgotten(in calm: FleetReading) throws -> Set<String> {
        let commands = try calm.results.filter { try ReadResult($0).path == "v1/operator:forget" }
        return Set(commands.map(\.keyText))
    }

    static func text(_ id: KeyID) -> String { String(decoding: id.recordKey, as: UTF8.self) }

    private mutating func checkOutputs() {
        let expected = calm.firstOutputs()
        let isExact = fleet.plan.delivery == .exactlyOnce
        var seen: Set<RecordPlace> = []
        for output in reading.outputs.values.joined() {
            let place = FleetReading.place(output)
            let isFirst = seen.insert(place).inserted
            if isExact, !isFirst { complaints.append("\(place) was answered twice") }
            let isEarly = early.contains(output.keyText) && output.stream == .results
            if isFirst, !isEarly, !isLoose(place.partition), expected[place] != output {
                let calm = expected[place]?.text ?? "nothing"
                complaints.append("\(place) was answered differently: \(output.text), not \(calm)")
            }
        }
        for place in expected.keys where !seen.contains(place) && !mayBeUnanswered(place) {
            complaints.append("\(place) has no answer")
        }
        guard isExact else { return }
        for stream in [OutputTopic.results, .deadLetters] {
            for (partition, records) in fleet.broker.visible(stream) {
                let offsets = records.map(\.sourceOffset)
                if offsets != offsets.sorted() { complaints.append("\(stream) of \(partition) are out of order") }
            }
        }
    }

    /// No counter is accepted at two offsets, and the ledger has the highest accepted one.
    private mutating func checkCounters() throws {
        forgotten.formUnion(ended)
        var accepted: [String: [Int64: Set<Int64>]] = [:]
        var counters: [String: UInt32] = [:]
        for output in reading.results {
            let result = try ReadResult(output)
            if result.path == "v1/operator:forget", result.verdict == "accepted" { forgotten.insert(output.keyText) }
            // A receipt's result tells the counter, and leaves it.
            guard result.verdict == "accepted", !result.path.hasSuffix(":verifyReceipt"), let counter = result.counter
            else { continue }
            let key = output.keyText
            counters[key] = max(counters[key] ?? 0, UInt32(clamping: counter))
            guard !result.duplicate, counter > 0 else { continue }
            accepted[key, default: [:]][counter, default: []].insert(result.offset)
        }
        let loose = keysOfLoose()
        // At least once an answer may be visible whose request retention takes before its facts are written; and of a record
        // that arrives late, and a newer one before it, compaction may keep the late one.
        let lowered = fleet.broker.hasCompacted ? late : []
        let excused = fleet.plan.delivery == .atLeastOnce ? forgotten.union(loose).union(lowered) : forgotten
        for (key, offsets) in accepted where !excused.contains(key) {
            for (counter, places) in offsets where places.count > 1 {
                complaints.append("counter \(counter) of \(key) was accepted at \(places.sorted())")
            }
        }
        let isWhole = { (key: String, _: UInt32) in
            !forgotten.contains(key) && !loose.contains(key) && !lowered.contains(key)
        }
        let (answered, kept) = (counters.filter(isWhole), reading.counters.filter(isWhole))
        for key in Set(answered.keys).union(kept.keys).sorted() where answered[key] != kept[key] {
            let texts = [kept[key], answered[key]].map { $0.map { "\($0)" } ?? "nothing" }
            complaints.append("the ledger has \(texts[0]) as the counter of \(key), and the results \(texts[1])")
        }
    }

    private mutating func checkLedgers() {
        if fleet.plan.delivery == .exactlyOnce {
            if checked(living(reading)) != checked(living(calm)) {
                complaints.append("the ledger is not that of a calm run")
            }
            if checked(reading.bans) != checked(calm.bans) { complaints.append("the bans are not those of a calm run") }
            return
        }
        if banned(reading) != banned(calm) {
            complaints.append("other keys are banned than in a calm run")
        }
        let loose = keysOfLoose()
        let isPromised = { (key: String, _: UInt32) in !early.contains(key) && !loose.contains(key) }
        if reading.counters.filter(isPromised) != calm.counters.filter(isPromised) {
            complaints.append("counters are not those of a calm run")
        }
        for partition in fleet.broker.partitions
        where !isLoose(partition) && reading.restored[partition]?.appliedOffset != fleet.broker.end(partition) {
            complaints.append("partition \(partition) is not applied to its end")
        }
    }

    /// The workers' memory equals what a restart would read.
    private mutating func checkMemories() {
        for worker in fleet.workers {
            for partition in worker.settled ?? [] where !fleet.broker.hasLostMemories(partition) {
                var (memory, topic) = (records(worker.loop.ledgers[partition]), records(reading.restored[partition]))
                // A late fact's request may be gone, which would make it again.
                if isLoose(partition) {
                    let unmade = keysThatCameLate(with: reading.restored[partition])
                    topic = topic.filter { key, _ in
                        !unmade.contains(key) && (memory[key] != nil || !late.contains(Self.text(key)))
                    }
                    memory = memory.filter { !unmade.contains($0.key) }
                }
                let bans = (worker.loop.ledgers[partition]?.bans, reading.restored[partition]?.bans)
                if punctual(bans.0) != punctual(bans.1) {
                    complaints.append("\(worker.name) remembers other bans of \(partition)")
                }
                if memory != topic { complaints.append("\(worker.name) remembers \(partition) differently") }
            }
        }
    }

    /// Without the keys that nothing is promised of.
    private func records(_ ledger: PartitionLedger?) -> [KeyID: KeyRecord] {
        var records: [KeyID: KeyRecord] = [:]
        ledger?.keys.forEach { id, record in
            let key = Self.text(id)
            guard !uncertain.contains(key) else { return }
            records[id] = record
            guard late.contains(key) else { return }
            records[id]?.lastRequest = nil
            records[id]?.nonce = nil
            records[id]?.risk = nil
        }
        return records
    }
}
