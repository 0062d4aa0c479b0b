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
    /// Ours from here on; also told anew, of partitions that are ours already, after an abort that leaves unknown what was
    /// committed. Answered with ``RecordLog/beginRestore(_:kept:)``; no record comes before the restore is complete.
    case assigned([Int32])
    /// Handed over in order: what is complete may still be committed before ``RecordLog/releaseRevoked()``.
    case revoked([Int32])
    /// Gone already: nothing of theirs may be committed.
    case lost([Int32])
}

/// The assignment that records were polled under. The log makes them up; a commit hands back its batch's own, so that
/// a member of the group that has lost its partitions is fenced, whatever it has been given since (KIP-447).
package struct Generation: Hashable, Sendable {
    package let number: Int
    package init(_ number: Int) { self.number = number }
}

/// What one poll gave: either records or a change of assignment, never both.
package struct PollRound: Sendable {
    package var records: [PolledRecord] = []
    package var generation = Generation(0)
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

/// A record of the ledger topic as it is read back. A nil value is a tombstone.
package struct StoredRecord: Sendable, Equatable {
    package var partition: Int32
    package var key: [UInt8]
    package var value: [UInt8]?

    package init(partition: Int32, key: [UInt8], value: [UInt8]?) {
        self.partition = partition
        self.key = key
        self.value = value
    }
}

/// What one call of ``RecordLog/restore(_:waitMilliseconds:)`` gave.
package struct RestoreRound: Sendable {
    /// In offset order within each partition.
    package var records: [StoredRecord] = []
    /// Offsets left to read, of all partitions together: what a progress line shows.
    package var remaining: Int64 = 0
    /// Everything up to the ends that the partitions had at ``RecordLog/beginRestore(_:kept:)`` was given; records of the
    /// requests topic come from the next poll on.
    package var isComplete = false
    /// The group took the partitions back meanwhile: the restore is over.
    package var change: AssignmentChange?

    package init() {}
}

/// The pipeline's one seam: Kafka, a capture file and a seeded simulation implement it.
///
/// Called from one thread only (the loop's). Calls may block, but never longer than `milliseconds`.
package protocol RecordLog: AnyObject {
    /// Up to `limits` records of one round; waits at most `milliseconds` for the first one.
    func poll(_ limits: BatchLimits, waitMilliseconds: Int) throws -> PollRound
    /// Opens the unit that the next appends and one commit belong to.
    func begin() throws
    /// Takes outputs and ledger records in the order in which they are to stand.
    func append(_ records: [OutboundRecord]) throws
    /// What makes bytes of records, for a log that is a file: lanes call it, and ``append(packed:)`` follows. nil = the
    /// log takes records.
    var packer: (@Sendable ([OutboundRecord]) -> [PackedOutput])? { get }
    func append(packed outputs: [PackedOutput]) throws
    /// Makes everything appended since ``begin()`` durable together with the input positions.
    ///
    /// - Parameter generation: the one that the positions' records were polled under.
    func commit(_ positions: [PartitionPosition], of generation: Generation) throws
    /// Drops what was appended since ``begin()`` as far as the log can, and rewinds to the committed positions. Where
    /// it cannot be known what was committed, ``AssignmentChange/assigned(_:)`` follows anew.
    func abort() throws
    /// Starts reading the ledger of partitions that were just assigned, up to the ends that they have now.
    ///
    /// - Parameter kept: those of which the caller still has the ledger as of their last commit (or restore) here: only
    ///   what was written after that is read.
    /// - Returns: those of `kept` that know more than the ledger topic has, which lost records that were committed: they
    ///   are to be dropped, and are read from the beginning.
    func beginRestore(_ partitions: [Int32], kept: Set<Int32>) throws -> Set<Int32>
    /// Some more of it, `records` at most; waits at most `waitMilliseconds` for the first one.
    func restore(_ records: Int, waitMilliseconds: Int) throws -> RestoreRound
    /// Answers a ``AssignmentChange/revoked(_:)`` or ``AssignmentChange/lost(_:)``: gives the partitions back.
    func releaseRevoked() throws
    /// Leaves: after this nothing is polled or appended.
    func close() throws
    /// Whether there is a ledger topic: ledger records are then appended.
    var hasLedger: Bool { get }
    /// Whether outputs, ledger and positions become durable together. Where they do not, the ledger says how far it
    /// was applied, and what it has seen is not applied again.
    var isAtomic: Bool { get }
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
    /// The log will not take one of the records that were appended, whenever it is tried: too large, for example.
    var isRecordFault: Bool { get }
}

extension LogFault {
    package var isRecordFault: Bool { false }
}
