internal import CommandFrame
internal import Pipeline
package import Settings
internal import Streams
internal import Synchronization

/// Captures as the source of requests, and capture files that take the outputs: four, and the receipts where a topic is
/// named for them. One reader, no rebalances.
package final class CaptureStreams: RequestSource, PackedTransaction {
    private static let files: [(OutputTopic, String)] = [
        (.results, "results.ndjson"), (.tokens, "tokens.ndjson"), (.events, "events.ndjson"),
        (.deadLetters, "dead-letters.ndjson"), (.receipts, "receipts.ndjson"),
    ]

    let inputs: CaptureInputs
    private let topics: [OutputTopic: String]
    private var outputs: [OutputTopic: OutputFile] = [:]
    private let bytesPolled = Atomic<Int>(0)
    private let recordsPolled = Atomic<Int>(0)
    private let bytesTotal: Int?
    /// Last lines of captures that are incomplete and no records: their writers were stopped in the middle of them.
    private(set) var cutLines: [(path: String, line: Int)] = []
    private(set) var timestamps = TimestampWatch()

    /// Opens the captures and makes (or empties) the files.
    ///
    /// - Parameters:
    ///   - paths: read in this order, as one capture.
    ///   - topics: the names that the written records carry.
    init(inputs paths: [String], output directory: String, topics: [OutputTopic: String]) throws(CommandFault) {
        inputs = try CaptureInputs(paths)
        bytesTotal = inputs.bytesTotal
        self.topics = topics.filter { topic in Self.files.contains { $0.0 == topic.key } }
        try Self.makeFolder(directory)
        for (stream, name) in Self.files where topics[stream] != nil {
            let path = directory + "/" + name
            // Dead letters repeat what was sent, artifacts and challenges included; receipts are a person's.
            let isSecret = stream == .tokens || stream == .deadLetters || stream == .receipts
            outputs[stream] = try OutputFile(path, holds: isSecret ? .secret : .plain)
        }
    }

    package static func makeFolder(_ directory: String) throws(CommandFault) {
        do throws(CommandFault) { try Folder.make(directory) } catch {
            throw CommandFault("cannot create \(directory): check for a file of that name and the parent's rights.")
        }
    }

    /// The files that a replay into this folder may write.
    package static func paths(in directory: String) -> [String] { files.map { directory + "/" + $0.1 } }

    /// The share of the captures that is done, if their size is known. A snapshot: another thread asks for it.
    ///
    /// - Parameter records: how many are done: what was only read ahead does not count.
    func share(after records: Int) -> Double? {
        guard let bytesTotal else { return nil }
        let polled = Double(max(1, recordsPolled.load(ordering: .relaxed)))
        let read = Double(bytesPolled.load(ordering: .relaxed)) / Double(max(1, bytesTotal))
        return read * min(1, Double(records) / polled)
    }

    func poll(_ limits: BatchLimits, waitMilliseconds: Int) throws -> PollRound {
        var round = PollRound()
        var bytes = 0
        while round.records.count < limits.records, bytes < limits.bytes {
            guard let line = try inputs.nextRange() else {
                round.ended = true
                break
            }
            guard !inputs.isCut || !LeftOutLines.isUnfinished(inputs.chunk[line]) else {
                cutLines.append(inputs.place(ofLine: inputs.lineNumber))
                continue
            }
            bytes += line.count
            timestamps.note(inputs.chunk, line, of: inputs.path)
            round.records.append(.captureLine(chunk: inputs.chunk, range: line, lineNumber: inputs.lineNumber))
        }
        bytesPolled.store(inputs.bytesConsumed, ordering: .relaxed)
        recordsPolled.add(round.records.count, ordering: .relaxed)
        return round
    }

    /// All of a capture is ours.
    var member: (any GroupMember)? { nil }

    /// Lanes write the lines; only the bytes come back to the loop.
    var packer: @Sendable (consuming [OutboundRecord]) -> [PackedOutput] {
        { [topics] (records: consuming [OutboundRecord]) in CaptureCodec.encode(consume records, topics: topics) }
    }

    func write(_ packed: [[PackedOutput]], _ positions: [PartitionPosition], of generation: Generation) throws {
        for output in packed.joined() { try outputs[output.stream]?.write(output.bytes) }
    }

    func abort() -> Bool { preconditionFailure("a fault of a file ends the replay") }

    /// A replay never reads its output again.
    var isAtomic: Bool { true }
    /// A file has no time limit.
    var timeShare: Double { 0 }

    func close() throws {
        for file in outputs.values { try file.close() }
    }
}

/// Finds the captures in which no record has a timestamp: their records are judged as of no time, so all are refused.
struct TimestampWatch {
    private(set) var without: [String] = []
    private var path: String?
    private var hasTime = false

    /// Looks at the records of a capture up to the first with a timestamp.
    mutating func note(_ chunk: [UInt8], _ range: Range<Int>, of path: String) {
        if hasTime, path == self.path { return }
        guard let record = try? CaptureCodec.decode(chunk, in: range) else { return }
        if path != self.path { (self.path, hasTime) = (path, false) }
        hasTime = InboundRecord.timestamps.contains(record.timestamp)
        if hasTime {
            if without.last == path { without.removeLast() }
        } else if without.last != path {
            without.append(path)
        }
    }

    var warnings: [String] {
        without.map {
            "no record of \($0) has a timestamp (ts), so none can be judged: capture them again with a kcat that writes it"
        }
    }
}
