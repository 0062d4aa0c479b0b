/// The source of requests: a topic, a capture file, a simulation.
///
/// The loop calls it from its own thread. Calls may block, but never longer than `milliseconds`.
package protocol RequestSource: AnyObject {
    /// Up to `limits` records of one round; waits at most `milliseconds` for the first one.
    func poll(_ limits: BatchLimits, waitMilliseconds: Int) throws -> PollRound
    /// The part in a group that hands out partitions; nil = all records are ours from the start, and no round reports
    /// a change.
    var member: (any GroupMember)? { get }
}

/// The most that one batch takes.
package struct BatchLimits: Sendable, Equatable {
    package var records: Int
    package var bytes: Int
    /// The longest time from the first record on.
    package var milliseconds: Int

    package init(records: Int = 10_000, bytes: Int = 8_388_608, milliseconds: Int = 100) {
        (self.records, self.bytes, self.milliseconds) = (records, bytes, milliseconds)
    }
}

/// The outcome of one poll: records or a change of assignment, never both. Records handed out before a partition was held
/// are sound.
package struct PollRound: Sendable {
    package var records: [PolledRecord] = []
    package var generation = Generation(0)
    package var events: [PartitionEvent] = []
    /// The input is at its end (a capture's last line).
    package var ended = false

    package init() {}
}

/// A polled record: copied by the source already, or one that a lane copies, or a capture's line that a lane decodes.
package enum PolledRecord: Sendable {
    case record(InboundRecord)
    case uncopied(UncopiedRecord)
    /// Lines are ranges of a shared chunk, so that no line is copied.
    case captureLine(chunk: [UInt8], range: Range<Int>, lineNumber: Int)

    /// nil for a capture's line.
    package var stamp: RecordStamp? {
        switch self {
        case .record(let record): RecordStamp(record)
        case .uncopied(let record): record.stamp
        case .captureLine: nil
        }
    }

    /// The record, copied once at most; nil for a capture's line.
    package func take() -> InboundRecord? {
        switch self {
        case .record(let record): record
        case .uncopied(let record): record.take()
        case .captureLine: nil
        }
    }
}

/// A record that lies in the source's own memory until a lane copies it. Copies of this value are the same record.
package struct UncopiedRecord: Sendable {
    package let stamp: RecordStamp
    private let memory: any RecordMemory
    private let index: Int

    package init(_ stamp: RecordStamp, _ index: Int, in memory: any RecordMemory) {
        (self.stamp, self.index, self.memory) = (stamp, index, memory)
    }

    /// Copies the record and frees its memory. Once, on any thread.
    package func take() -> InboundRecord { memory.takeRecord(index) }
}

/// Memory of the source with records in it.
package protocol RecordMemory: AnyObject, Sendable {
    /// Copies a record and frees its memory. Once, on any thread.
    func takeRecord(_ index: Int) -> InboundRecord
}
