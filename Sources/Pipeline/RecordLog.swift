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
    /// committed. Answered with ``RecordLog/beginRestore(_:kept:)``; no record of a partition comes before ``RecordLog/start(_:mark:ledgerIsEmpty:)``.
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
    /// A partition of which no more can be read, with no records or change beside it.
    package var damaged: PartitionDamage?

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
    /// Partitions of which everything up to the ends that they had was given with this round, each told once.
    package var completed: [Int32] = []
    /// Partitions whose ledger cannot be read: nothing more of it comes, and nothing counts that has come.
    package var damaged: [PartitionDamage] = []
    /// Everything of all of them was given.
    package var isComplete = false
    /// Partitions that were kept and know more than the ledger topic has, which lost records that were committed. What is
    /// known of them is to be dropped: they are read from the beginning, from the next round on.
    package var dropped: Set<Int32> = []
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
    /// Keeps the log's membership in its group alive while nothing is polled: called at least twice a second then. What
    /// comes meanwhile is kept for the next poll.
    ///
    /// - Returns: a change of assignment, which a poll would have given.
    func serve() throws -> AssignmentChange?
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
    func beginRestore(_ partitions: [Int32], kept: Set<Int32>) throws
    /// Some more of it, `records` at most; waits at most `waitMilliseconds` for the first one. Partitions that were started
    /// are polled meanwhile.
    func restore(_ records: Int, waitMilliseconds: Int) throws -> RestoreRound
    /// Decides where the reading of a partition begins; asked once for each, when its ledger is restored.
    ///
    /// - Parameters:
    ///   - mark: what the ledger's last record 04 says; nil = there is none.
    ///   - ledgerIsEmpty: whether the ledger says nothing else.
    /// - Throws: a fault of the world; after one that may pass it is asked again.
    func start(_ partition: Int32, mark: PartitionMark?, ledgerIsEmpty: Bool) throws -> PartitionStart
    /// Keeps a partition of ours without handing out a record of it, until it is revoked or assigned anew.
    func hold(_ partition: Int32) throws
    /// The group whose positions are committed, as it stands in marks; nil = there is none, and no mark names one.
    var group: [UInt8]? { get }
    /// Answers a ``AssignmentChange/revoked(_:)`` or ``AssignmentChange/lost(_:)``: gives the partitions back.
    func releaseRevoked() throws
    /// Leaves: after this nothing is polled or appended.
    func close() throws
    /// Whether there is a ledger topic: ledger records are then appended.
    var hasLedger: Bool { get }
    /// Whether outputs, ledger and positions become durable together. Where they do not, the ledger says how far it
    /// was applied, and what it has seen is not applied again.
    var isAtomic: Bool { get }
    /// The share of its time that the last unit took which was committed: 1 is all that a unit may take.
    var unitTimeShare: Double { get }
}

extension RecordLog {
    package func start(_ partition: Int32, mark: PartitionMark?, ledgerIsEmpty: Bool) throws -> PartitionStart {
        .started(PartitionStart.Report())
    }

    package func hold(_ partition: Int32) throws {}
    package func serve() throws -> AssignmentChange? { nil }
    package var group: [UInt8]? { nil }
    /// A file has all the time there is.
    package var unitTimeShare: Double { 0 }
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
    /// The unit ran out of time: the share of its records that were taken until then, 0 to 1. nil = another fault.
    var acknowledgedShare: Double? { get }
}

extension LogFault {
    package var isRecordFault: Bool { false }
    package var acknowledgedShare: Double? { nil }
}
