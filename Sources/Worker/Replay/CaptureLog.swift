internal import Foundation
internal import Log
internal import Pipeline
internal import Settings
internal import Synchronization

/// A capture as the source of requests, and four capture files as the unit of output. One reader, no rebalances.
final class CaptureLog: RequestSource, PackedUnit {
    private static let files: [(OutputTopic, String)] = [
        (.results, "results.ndjson"), (.tokens, "tokens.ndjson"), (.events, "events.ndjson"),
        (.deadLetters, "dead-letters.ndjson"),
    ]

    private let reader: LineReader
    private let topics: [OutputTopic: String]
    private var outputs: [OutputTopic: OutputFile] = [:]
    private var pending: [PackedOutput] = []
    private let bytesRead = Atomic<Int>(0)
    private let bytesTotal: Int?
    /// The capture's last line, if it is incomplete and no record: its writer was stopped in the middle of it.
    private(set) var cutLine: Int?

    /// Opens the capture and makes (or empties) the four files.
    ///
    /// - Parameter topics: the names that the written records carry.
    init(input: String, output directory: String, topics: [OutputTopic: String]) throws(CommandFault) {
        reader = try LineReader(path: input)
        bytesTotal = reader.totalBytes
        self.topics = topics
        do { try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true) } catch {
            throw CommandFault("cannot create \(directory): check for a file of that name and the parent's rights.")
        }
        for (stream, name) in Self.files {
            let path = directory + "/" + name
            // Dead letters repeat what was sent, artifacts and challenges included.
            let isSecret = stream == .tokens || stream == .deadLetters
            outputs[stream] = try OutputFile(path, holds: isSecret ? .secret : .plain)
        }
    }

    /// The four files that a replay into this folder writes.
    static func paths(in directory: String) -> [String] { files.map { directory + "/" + $0.1 } }

    /// The share of the capture that was read, if its size is known. A snapshot: another thread asks for it.
    var share: Double? { bytesTotal.map { Double(bytesRead.load(ordering: .relaxed)) / Double(max(1, $0)) } }

    func poll(_ limits: BatchLimits, waitMilliseconds: Int) throws -> PollRound {
        var round = PollRound()
        var bytes = 0
        while round.records.count < limits.records, bytes < limits.bytes {
            guard let line = try reader.nextRange() else {
                round.ended = true
                break
            }
            guard !reader.isCut || !LeftOutLines.isUnfinished(reader.chunk[line]) else {
                cutLine = reader.lineNumber
                continue
            }
            bytes += line.count
            round.records.append(.captureLine(chunk: reader.chunk, range: line, lineNumber: reader.lineNumber))
        }
        bytesRead.store(reader.bytesRead, ordering: .relaxed)
        return round
    }

    /// All of a capture is ours.
    var member: (any GroupMember)? { nil }

    /// Lanes write the lines; only the bytes come back to the loop.
    var packer: @Sendable ([OutboundRecord]) -> [PackedOutput] {
        { [topics] in Self.pack($0, topics) }
    }

    private static func pack(_ records: [OutboundRecord], _ topics: [OutputTopic: String]) -> [PackedOutput] {
        var packed: [PackedOutput] = []
        var rest = records[...]
        while let stream = rest.first?.stream {
            let run = rest.prefix { $0.stream == stream }
            rest = rest[run.endIndex...]
            guard let topic = topics[stream] else { continue }
            packed.append(PackedOutput(stream: stream, bytes: CaptureCodec.encode(run, topic: topic)))
        }
        return packed
    }

    func begin() { pending = [] }

    func append(_ outputs: [PackedOutput]) { pending += outputs }

    func commit(_ positions: [PartitionPosition], of generation: Generation) throws {
        for output in pending { try outputs[output.stream]?.write(output.bytes) }
        pending = []
    }

    func abort() { preconditionFailure("a fault of a file ends the replay") }

    /// A replay never reads its output again.
    var isAtomic: Bool { true }
    /// A file has no time limit.
    var timeShare: Double { 0 }

    func close() throws {
        for file in outputs.values { try file.close() }
    }
}
