internal import BrokerKit
internal import JSON
internal import Pipeline
internal import Settings
internal import Streams
internal import TestKit

/// Reads a run's topics, its ledger, and a replay of the requests.
struct ChaosReader {
    let workplace: ProgramWorkplace
    var before = ChaosBefore()
    /// Whether a wrong clock may have refused a request, which then changed nothing: the replay does without it.
    var isSpoilt: (ChaosOutcome) -> Bool = { _ in false }

    /// The evidence to check, and facts about the topics.
    struct Reading {
        var evidence: ChaosEvidence
        /// Partitions whose last transaction is still open.
        var open: [String] = []
        /// Records of aborted transactions and marks, in the output topics.
        var unseen = 0
    }

    func read() throws -> Reading {
        var reading = Reading(evidence: ChaosEvidence(requests: [], outcomes: []))
        for stream in Self.streams {
            let ends = try each(stream.name) { reading.evidence.outcomes.append(try stream.outcome($0)) }
            reading.unseen += ends.values.reduce(0) { $0 + $1.unseen }
        }
        let spoilt = Set(reading.evidence.outcomes.filter(isSpoilt).map(\.source))
        reading.evidence.spoilt = spoilt
        let capture = workplace.folder + "/capture.ndjson"
        let ends = try TopicDump.capture(
            workplace.requests,
            workplace.properties,
            partitions: workplace.partitions,
            to: capture
        ) { record in
            let place = RecordPlace(record)
            reading.evidence.requests.append(place)
            reading.evidence.exchanges[place] = ChaosExchange(request: record.value)
            return !spoilt.contains(place)
        }
        reading.open = Self.open(ends, workplace.requests)
        // No transaction writes there: every offset is a request.
        let unread = ends.values.reduce(0) { $0 + $1.unseen }
        guard unread == 0 else { throw ChaosOutcome.Unreadable(description: "\(unread) requests were not read") }
        let replay = workplace.folder + "/replay"
        try workplace.done("replay", "--input", capture, "--output", replay, seconds: 3600)
        var replayed: [ChaosOutcome] = []
        try Self.each(ofReplay: replay) { outcome, _ in replayed.append(outcome) }
        reading.evidence.replayed = replayed
        for topic in ProgramWorkplace.streams.dropFirst().map(workplace.topic) {
            reading.open += Self.open(try workplace.ends(of: topic), topic)
        }
        reading.evidence.ledger = try Self.counters(workplace.done("export-keys", seconds: 600).output)
        reading.evidence.keysBefore = before.keys
        try readExchange(into: &reading.evidence)
        return reading
    }

    private func readExchange(into evidence: inout ChaosEvidence) throws {
        var (answers, events, topic) = ([ChaosAnswer](), [ChaosEvent](), ChaosLedger.Reader())
        try each("tokens") { answers.append(try ChaosAnswer($0)) }
        try each("events") { events.append(try ChaosEvent($0)) }
        try each("ledger") { topic.read($0) }
        (evidence.answers, evidence.events, evidence.topic) = (answers, events, try topic.ledger())
    }

    /// Reads what the run has written to a topic.
    @discardableResult
    private func each(_ name: String, _ body: (InboundRecord) throws -> Void) throws -> [Int32: TopicDump.Ends] {
        let topic = workplace.topic(name)
        return try TopicDump.read(topic, workplace.properties, partitions: workplace.partitions) { record in
            if !before.has(record, of: name) { try body(record) }
        }
    }

    /// What outcomes stand in, and what reads one.
    private static let streams: [(name: String, outcome: @Sendable (InboundRecord) throws -> ChaosOutcome)] = [
        ("results", { try ChaosOutcome(result: $0) }), ("dead-letters", { try ChaosOutcome(deadLetter: $0) }),
    ]

    /// Reads a replay's output, in its order. It may be too long to be held in memory.
    private static func each(ofReplay folder: String, _ body: (ChaosOutcome, InboundRecord) throws -> Void) throws {
        for stream in streams {
            let lines = try LineReader(path: "\(folder)/\(stream.name).ndjson")
            while let line = try lines.next() {
                let record = try CaptureCodec.decode(line)
                try body(stream.outcome(record), record)
            }
        }
    }

    /// Each outcome of these requests as a line of a capture: the replay's, then the worker's. After ``read()``.
    func lines(of sources: Set<RecordPlace>) throws -> [String] {
        var lines: [String] = []
        func take(_ outcome: ChaosOutcome, _ record: InboundRecord) {
            guard sources.contains(outcome.source) else { return }
            lines.append(String(decoding: CaptureCodec.capture([record]).dropLast(), as: UTF8.self))
        }
        try Self.each(ofReplay: workplace.folder + "/replay", take)
        for stream in Self.streams { try each(stream.name) { take(try stream.outcome($0), $0) } }
        return lines
    }

    private static func open(_ ends: [Int32: TopicDump.Ends], _ topic: String) -> [String] {
        ends.filter(\.value.isOpen).sorted { $0.key < $1.key }
            .map { "\(topic), partition \($0.key): readers end at \($0.value.committed) of \($0.value.all)" }
    }

    /// Counters by key ID of KEYS: a JSON object per line.
    static func counters(_ keys: String) throws -> [String: Int64] {
        var counters: [String: Int64] = [:]
        for line in keys.utf8.split(separator: UInt8(ascii: "\n")) {
            let root = try JSONDocument(parsing: Array(line)).root
            guard let keyID = root["keyId"]?.string, let counter = root["counter"]?.integer else {
                throw ChaosOutcome.Unreadable(description: "no key: \(line)")
            }
            guard counters.updateValue(counter, forKey: keyID) == nil else {
                throw ChaosOutcome.Unreadable(description: "exported twice: \(keyID)")
            }
        }
        return counters
    }
}
