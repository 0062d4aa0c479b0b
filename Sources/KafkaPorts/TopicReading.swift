package import Log

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
    /// Gives the client up: it ends in the background.
    func discard()
}
