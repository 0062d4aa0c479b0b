/// A polled record: decoded by the log already, or a capture's line that a lane decodes.
package enum PolledRecord: Sendable {
    case record(InboundRecord)
    /// Lines are ranges of a shared chunk, so that no line is copied.
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
    /// Ours from here on; also sent again, for partitions that are ours already, after an abort that leaves open what
    /// was committed. Answered with ``RecordLog/beginRestore(_:kept:)``; no record of a partition comes before
    /// ``RecordLog/start(_:mark:ledgerIsEmpty:)``.
    case assigned([Int32])
    /// Revoked in order: complete work may still be committed before ``RecordLog/releaseRevoked()``.
    case revoked([Int32])
    /// Gone already: no work on them may be committed.
    case lost([Int32])
}

/// The assignment under which records were polled. The log makes it up; a commit carries its batch's own, so that a
/// member that has lost its partitions is fenced, whatever it has been assigned since (KIP-447).
package struct Generation: Hashable, Sendable {
    package let number: Int
    package init(_ number: Int) { self.number = number }
}

/// The outcome of one poll: records or a change of assignment, never both.
package struct PollRound: Sendable {
    package var records: [PolledRecord] = []
    package var generation = Generation(0)
    package var change: AssignmentChange?
    /// The input is at its end (a capture's last line).
    package var ended = false
    /// A partition that cannot be read further; comes without records or a change.
    package var damaged: PartitionDamage?

    package init() {}
}

/// A partition and the next offset to read of it.
package struct PartitionPosition: Sendable, Equatable {
    package var partition: Int32
    package var offset: Int64

    package init(partition: Int32, offset: Int64) {
        self.partition = partition
        self.offset = offset
    }

    /// The next offset of each partition among `records`, sorted by partition.
    static func after(_ records: [DecodedRecord]) -> [PartitionPosition] {
        var next: [Int32: Int64] = [:]
        for record in records {
            // A capture may contain the largest offset of all, which has no next one.
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

/// The outcome of one call of ``RecordLog/restore(_:waitMilliseconds:)``.
package struct RestoreRound: Sendable {
    /// In offset order within each partition.
    package var records: [StoredRecord] = []
    /// Offsets left to read, of all partitions together: what a progress line shows.
    package var remaining: Int64 = 0
    /// Partitions given completely, up to their ends at the start, with this round; each is named once.
    package var completed: [Int32] = []
    /// Partitions whose ledger cannot be read: no more of it comes, and the records given so far do not count.
    package var damaged: [PartitionDamage] = []
    /// All partitions were given completely.
    package var isComplete = false
    /// Kept partitions that know more than the ledger topic has, which lost committed records. The caller drops its
    /// state of them: they are read from the beginning, from the next round on.
    package var dropped: Set<Int32> = []
    /// The group revoked the partitions meanwhile: the restore is over.
    package var change: AssignmentChange?

    package init() {}
}

/// The pipeline's only boundary: Kafka, a capture file and a seeded simulation implement it.
///
/// Called from one thread only (the loop's). Calls may block, but never longer than `milliseconds`.
package protocol RecordLog: AnyObject {
    /// Up to `limits` records of one round; waits at most `milliseconds` for the first one.
    func poll(_ limits: BatchLimits, waitMilliseconds: Int) throws -> PollRound
    /// Keeps the log's membership in its group alive while nothing is polled: called at least twice a second then.
    /// Events that come meanwhile are kept for the next poll.
    ///
    /// - Returns: a change of assignment, which a poll would have given.
    func serve() throws -> AssignmentChange?
    /// Opens the unit of the next appends and one commit.
    func begin() throws
    /// Takes outputs and ledger records in the order in which they are to be written.
    func append(_ records: [OutboundRecord]) throws
    /// Packs records into bytes, for a log that is a file: lanes call it, and ``append(packed:)`` follows. nil = the
    /// log takes records.
    var packer: (@Sendable ([OutboundRecord]) -> [PackedOutput])? { get }
    func append(packed outputs: [PackedOutput]) throws
    /// Makes everything appended since ``begin()`` durable together with the input positions.
    ///
    /// - Parameter generation: the one under which the positions' records were polled.
    func commit(_ positions: [PartitionPosition], of generation: Generation) throws
    /// Drops everything appended since ``begin()`` as far as the log can, and rewinds to the committed positions. If it
    /// is unknown what was committed, ``AssignmentChange/assigned(_:)`` follows again.
    func abort() throws
    /// Starts reading the ledger of newly assigned partitions, up to their ends at this moment.
    ///
    /// - Parameter kept: partitions whose ledger the caller still has as of its last commit (or restore) here: only
    ///   records written after that are read.
    func beginRestore(_ partitions: [Int32], kept: Set<Int32>) throws
    /// Reads on, at most `records` of them; waits at most `waitMilliseconds` for the first one. Partitions that have
    /// started are polled meanwhile.
    func restore(_ records: Int, waitMilliseconds: Int) throws -> RestoreRound
    /// Decides where reading of a partition starts; asked once for each, when its ledger is restored.
    ///
    /// - Parameters:
    ///   - mark: the ledger's last record 04; nil = there is none.
    ///   - ledgerIsEmpty: whether the ledger has no other record.
    /// - Throws: a fault of the world; after a passing one it is asked again.
    func start(_ partition: Int32, mark: PartitionMark?, ledgerIsEmpty: Bool) throws -> PartitionStart
    /// Keeps a partition of ours without handing out its records, until it is revoked or assigned again.
    func hold(_ partition: Int32) throws
    /// The group whose positions are committed, as written in marks; nil = there is none, and no mark names one.
    var group: [UInt8]? { get }
    /// Answers a ``AssignmentChange/revoked(_:)`` or ``AssignmentChange/lost(_:)``: gives the partitions back.
    func releaseRevoked() throws
    /// Leaves the group: after this nothing is polled or appended.
    func close() throws
    /// Whether there is a ledger topic, to which ledger records are appended.
    var hasLedger: Bool { get }
    /// Whether outputs, ledger and positions become durable together. If not, the ledger records how far it was
    /// applied, and requests before that are not applied again.
    var isAtomic: Bool { get }
    /// The share of its time that the last committed unit took: 1 is all that a unit may take.
    var unitTimeShare: Double { get }
}

extension RecordLog {
    package func start(_ partition: Int32, mark: PartitionMark?, ledgerIsEmpty: Bool) throws -> PartitionStart {
        .started(PartitionStart.Report())
    }

    package func hold(_ partition: Int32) throws {}
    package func serve() throws -> AssignmentChange? { nil }
    package var group: [UInt8]? { nil }
    /// A file has no time limit.
    package var unitTimeShare: Double { 0 }
    package var packer: (@Sendable ([OutboundRecord]) -> [PackedOutput])? { nil }
    package func append(packed outputs: [PackedOutput]) throws {
        precondition(outputs.isEmpty, "the log takes records")
    }
}

/// A fault of the world in the log. All other faults end the loop.
package protocol LogFault: Error {
    /// The log cannot go on, whatever is retried.
    var endsLoop: Bool { get }
    /// The work in progress must be aborted; otherwise the same call may be made again.
    var requiresAbort: Bool { get }
    /// The log refuses one of the appended records on every try: too large, for example.
    var isRecordFault: Bool { get }
    /// The unit ran out of time: the share of its records acknowledged until then, 0 to 1. nil = another fault.
    var acknowledgedShare: Double? { get }
}

extension LogFault {
    package var isRecordFault: Bool { false }
    package var acknowledgedShare: Double? { nil }
}
