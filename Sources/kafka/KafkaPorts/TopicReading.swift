package import Streams

/// Records of a compacted topic as they were read.
package struct LedgerChunk: Sendable {
    /// The records in each partition's order.
    package var records = StoredRecords()
    /// The records' offsets, as many as there are records.
    package var offsets: [Int64] = []

    package init(_ records: StoredRecords = StoredRecords(), offsets: [Int64] = []) {
        (self.records, self.offsets) = (records, offsets)
    }
}

/// Reads partitions of one topic without a group, committed records only. On the loop's queue; no call waits for a broker.
package protocol TopicReading: AnyObject {
    /// Begins to read partitions (``PartitionOffset/beginning`` = at the oldest record).
    func start(_ starts: [PartitionOffset]) throws(KafkaFault)
    /// Stops reading partitions: nothing more of them comes.
    func stop(_ partitions: [Int32]) throws(KafkaFault)
    /// Takes the records that are ready; waits at most so many milliseconds for the first one.
    ///
    /// - Throws: a fault of a partition, after the records before it. The library skips what it could not read.
    func poll(most records: Int, waiting milliseconds: Int) throws(KafkaFault) -> LedgerChunk
    /// The offset before which everything readable was given: moves over markers and compacted records. nil = unknown yet.
    func position(of partition: Int32) -> Int64?
    /// Whether the position is the end of the committed records, as the leader last said.
    func isAtEnd(of partition: Int32) -> Bool
    /// Gives the client up: it ends in the background, once nobody has it. Nothing is called afterwards.
    func discard()
}

/// A record of a topic that is read without a group. A null key or value (a tombstone) is nil, an empty one [].
package struct TopicRecord: Sendable, Equatable {
    package var partition: Int32
    package var offset: Int64
    package var key: [UInt8]?
    package var value: [UInt8]?
    /// Milliseconds since 1970; −1 where the record has none.
    package var timestamp: Int64
    /// nil where the library cannot decode them.
    package var headers: [RecordHeader]?

    package init(
        partition: Int32,
        offset: Int64,
        key: [UInt8]?,
        value: [UInt8]?,
        timestamp: Int64 = -1,
        headers: [RecordHeader]? = []
    ) {
        (self.partition, self.offset, self.key, self.value) = (partition, offset, key, value)
        (self.timestamp, self.headers) = (timestamp, headers)
    }
}

/// Reads whole records, with their times and headers, and asks for the partitions' ends, which may wait for a broker.
package protocol RecordReading: TopicReading {
    /// Whether files that the client has read were renewed: a new one reads those.
    var isOutdated: Bool { get }
    /// Whether a first fetch of each partition has come back.
    var hasHeardAll: Bool { get }
    /// Polls as ``TopicReading/poll(most:waiting:)`` does.
    func records(most: Int, waiting milliseconds: Int) throws(KafkaFault) -> [TopicRecord]
    /// The oldest offset, and the next record's: records of open transactions included.
    func watermarks(of partition: Int32, timeoutMilliseconds: Int) throws(KafkaFault) -> Watermarks
    /// Opens connections to the leaders of partitions ahead of the first fetch, which would wait for them.
    func connect(to partitions: [Int32], timeoutMilliseconds: Int)
}
