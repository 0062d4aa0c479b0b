/// A record as polled: decoded by the log already, or a capture's line that a lane will decode.
package enum PolledRecord: Sendable {
    case record(InboundRecord)
    /// Lines lie in a chunk that they share, so that no line is copied.
    case captureLine(chunk: [UInt8], range: Range<Int>, lineNumber: Int)
}

package struct BatchLimits: Sendable, Equatable {
    package var records: Int
    package var bytes: Int
    package var milliseconds: Int

    package init(records: Int = 10_000, bytes: Int = 8_388_608, milliseconds: Int = 100) {
        self.records = records
        self.bytes = bytes
        self.milliseconds = milliseconds
    }
}

package enum AssignmentChange: Sendable, Equatable {
    case assigned([Int32])
    /// Handed over in order: what is complete may still be committed before ``RecordLog/releaseRevoked()``.
    case revoked([Int32])
    /// Gone already: nothing of theirs may be committed.
    case lost([Int32])
}

/// What one poll gave: either records or a change of assignment, never both.
package struct PollRound: Sendable {
    package var records: [PolledRecord] = []
    package var change: AssignmentChange?
    /// The input is at its end (a capture's last line).
    package var ended = false

    package init() {}
}

/// The next offset to read of a partition.
package struct PartitionPosition: Sendable, Equatable {
    package var partition: Int32
    package var offset: Int64

    package init(partition: Int32, offset: Int64) {
        self.partition = partition
        self.offset = offset
    }

    /// The next offset of each partition that `records` are from, by partition.
    static func after(_ records: [DecodedRecord]) -> [PartitionPosition] {
        var next: [Int32: Int64] = [:]
        for record in records {
            // A capture may name the last offset that there is, which has none after it.
            let (after, isBeyond) = record.record.offset.addingReportingOverflow(1)
            next[record.record.partition, default: 0].raise(to: isBeyond ? .max : after)
        }
        return next.sorted { $0.key < $1.key }.map { PartitionPosition(partition: $0.key, offset: $0.value) }
    }
}

extension Int64 {
    fileprivate mutating func raise(to value: Int64) { self = Swift.max(self, value) }
}

/// Consecutive records of one stream in the bytes of their file.
package struct PackedOutput: Sendable {
    package let stream: OutputStream
    package var bytes: [UInt8]

    package init(stream: OutputStream, bytes: [UInt8]) {
        self.stream = stream
        self.bytes = bytes
    }
}

/// The pipeline's one seam: Kafka, a capture file and a seeded simulation implement it.
///
/// Called from one thread only (the loop's). Calls may block, but never longer than `milliseconds`.
package protocol RecordLog: AnyObject {
    /// Up to `limits` records of one round; waits at most `milliseconds` for the first one.
    func poll(_ limits: BatchLimits, waitMilliseconds: Int) throws -> PollRound
    /// Opens the unit that the next appends and one commit belong to.
    func begin() throws
    func append(_ records: [OutboundRecord]) throws
    /// What makes bytes of records, for a log that is a file: lanes call it, and ``append(packed:)`` follows. nil = the
    /// log takes records.
    var packer: (@Sendable ([OutboundRecord]) -> [PackedOutput])? { get }
    func append(packed outputs: [PackedOutput]) throws
    /// Makes everything appended since ``begin()`` durable together with the input positions.
    func commit(_ positions: [PartitionPosition]) throws
    /// Drops what was appended since ``begin()`` as far as the log can, and rewinds to the committed positions.
    func abort() throws
    /// Answers a ``AssignmentChange/revoked(_:)`` or ``AssignmentChange/lost(_:)``: gives the partitions back.
    func releaseRevoked() throws
    /// Leaves: after this nothing is polled or appended.
    func close() throws
}

extension RecordLog {
    package var packer: (@Sendable ([OutboundRecord]) -> [PackedOutput])? { nil }
    package func append(packed outputs: [PackedOutput]) throws {
        precondition(outputs.isEmpty, "the log takes records")
    }
}

/// A fault of the world in the log. Others than these end the loop.
package protocol LogFault: Error {
    /// The log cannot go on, whatever is tried.
    var endsLoop: Bool { get }
    /// What is under way must be aborted; otherwise the same call may be made again.
    var requiresAbort: Bool { get }
}
