internal import BrokerKit
internal import Foundation
internal import JSON
internal import Kafka
internal import Pipeline
package import Streams

/// Reads a run's topics, its ledger, and a replay of the requests.
struct ChaosReader {
    let workplace: ProgramWorkplace
    /// What was there before the run's first request.
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
        var requests: [ChaosPlace] = []
        var exchanges: [ChaosPlace: ChaosExchange] = [:]
        var open: [String] = []
        var reading = Reading(evidence: ChaosEvidence(requests: [], outcomes: []))
        try readOutcomes("results", into: &reading, ChaosOutcome.init(result:))
        try readOutcomes("dead-letters", into: &reading, ChaosOutcome.init(deadLetter:))
        let spoilt = Set(reading.evidence.outcomes.filter(isSpoilt).map(\.source))
        let capture = workplace.folder + "/capture.ndjson"
        let ends = try TopicDump.capture(
            workplace.requests,
            workplace.properties,
            partitions: workplace.partitions,
            to: capture,
            keeping: { !spoilt.contains(ChaosPlace($0.partition, $0.offset)) }
        ) { record in
            let place = ChaosPlace(record.partition, record.offset)
            requests.append(place)
            if let exchange = ChaosExchange(request: record.value) { exchanges[place] = exchange }
        }
        open += Self.open(ends, workplace.requests)
        // No transaction writes there: every offset is a request.
        let unread = ends.values.reduce(0) { $0 + $1.unseen }
        guard unread == 0 else { throw ChaosOutcome.Unreadable(description: "\(unread) requests were not read") }
        let replay = workplace.folder + "/replay"
        try workplace.done("replay", "--input", capture, "--output", replay, seconds: 3600)
        reading.evidence.requests = requests
        reading.evidence.replayed = try Self.outcomes(ofReplay: replay)
        reading.evidence.spoilt = spoilt
        reading.open = open
        reading.evidence.exchanges = exchanges
        for topic in ProgramWorkplace.streams.dropFirst().map(workplace.topic) {
            let ends = try TopicDump.ends(of: topic, workplace.properties, partitions: workplace.partitions)
            reading.open += Self.open(ends, topic)
        }
        reading.evidence.ledger = try ledger()
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

    private func each(_ name: String, _ body: (InboundRecord) throws -> Void) throws {
        let topic = workplace.topic(name)
        try TopicDump.read(topic, workplace.properties, partitions: workplace.partitions) { record in
            guard !before.has(record, of: name) else { return }
            try body(InboundRecord(record, topic: topic))
        }
    }

    private func readOutcomes(
        _ name: String,
        into reading: inout Reading,
        _ outcome: (InboundRecord) throws -> ChaosOutcome
    ) throws {
        let topic = workplace.topic(name)
        let ends = try TopicDump.read(topic, workplace.properties, partitions: workplace.partitions) { record in
            guard !before.has(record, of: name) else { return }
            reading.evidence.outcomes.append(try outcome(InboundRecord(record, topic: topic)))
        }
        reading.unseen += ends.values.reduce(0) { $0 + $1.unseen }
    }

    /// Each outcome of these requests as a line of a capture: the replay's, then the worker's. After ``read()``.
    func lines(of sources: Set<ChaosPlace>) throws -> [String] {
        var lines: [String] = []
        func take(_ record: InboundRecord, _ outcome: (InboundRecord) throws -> ChaosOutcome) throws {
            guard try sources.contains(outcome(record).source) else { return }
            var line: [UInt8] = []
            CaptureCodec.encode(record, into: &line)
            lines.append(String(decoding: line.dropLast(), as: UTF8.self))
        }
        let replay = workplace.folder + "/replay"
        try CaptureFile.read(replay + "/results.ndjson") { try take($0, ChaosOutcome.init(result:)) }
        try CaptureFile.read(replay + "/dead-letters.ndjson") { try take($0, ChaosOutcome.init(deadLetter:)) }
        try each("results") { try take($0, ChaosOutcome.init(result:)) }
        try each("dead-letters") { try take($0, ChaosOutcome.init(deadLetter:)) }
        return lines
    }

    private static func open(_ ends: [Int32: TopicDump.Ends], _ topic: String) -> [String] {
        ends.filter(\.value.isOpen).sorted { $0.key < $1.key }
            .map { "\(topic), partition \($0.key): readers end at \($0.value.committed) of \($0.value.all)" }
    }

    /// A replay's output, in its order.
    static func outcomes(ofReplay folder: String) throws -> [ChaosOutcome] {
        var outcomes: [ChaosOutcome] = []
        try CaptureFile.read(folder + "/results.ndjson") { outcomes.append(try ChaosOutcome(result: $0)) }
        try CaptureFile.read(folder + "/dead-letters.ndjson") { outcomes.append(try ChaosOutcome(deadLetter: $0)) }
        return outcomes
    }

    /// The counters that the program exports; nil where it has no such command.
    private func ledger() throws -> [String: Int64]? {
        guard WorkerBinary.has(command: "export-keys") else { return nil }
        let export = try workplace.done("export-keys", seconds: 600)
        return try Self.counters(export.output)
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

/// Reads captures too long to be held in memory.
package enum CaptureFile {
    /// Hands each line's record to `body`.
    package static func read(_ path: String, body: (InboundRecord) throws -> Void) throws {
        guard let file = FileHandle(forReadingAtPath: path) else {
            throw ChaosOutcome.Unreadable(description: "cannot read \(path)")
        }
        defer { try? file.close() }
        var rest: [UInt8] = []
        while let data = try file.read(upToCount: 4 << 20), !data.isEmpty {
            rest += data
            var start = 0
            while let end = rest[start...].firstIndex(of: UInt8(ascii: "\n")) {
                if end > start { try body(CaptureCodec.decode(rest, in: start..<end)) }
                start = end + 1
            }
            rest.removeFirst(start)
        }
        if !rest.isEmpty { try body(CaptureCodec.decode(rest)) }
    }
}
