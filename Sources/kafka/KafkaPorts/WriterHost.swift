package import Streams

/// A batch's output: its records become durable together with the offsets.
package struct OutputBatch: Sendable {
    /// The records in the order in which they are to be written.
    package var records: [OutboundRecord]
    package var offsets: [PartitionOffset]
    /// The membership under which the offsets' records were polled.
    package var token: any MemberToken
    package var budget: CallBudget
    /// The offset up to which each ledger is known: a record of ours before it shows that the topic was cut.
    package var knownLedgerEnds: [Int32: Int64]

    package init(
        records: [OutboundRecord],
        offsets: [PartitionOffset],
        token: any MemberToken,
        budget: CallBudget,
        knownLedgerEnds: [Int32: Int64] = [:]
    ) {
        (self.records, self.offsets, self.token) = (records, offsets, token)
        (self.budget, self.knownLedgerEnds) = (budget, knownLedgerEnds)
    }
}

package enum WriterJob: Sendable {
    /// Ends what a predecessor left open, with the partition counts of the topics.
    case takeOver([String: Int32])
    case write(OutputBatch)
    /// Ends an output that has failed.
    case abort
    case close
}

package enum WriterOutcome: Sendable {
    case tookOver
    /// Taking over needs more time. A report: the job goes on.
    case stillTakingOver(KafkaFault)
    /// The records of an output that is held back have arrived, and others can read them. A report, which is repeated
    /// until the member lets the output go.
    case arrived
    /// Everything is durable but the offsets, where these are due: the member commits them by its consumer.
    /// `ledgerTime`: see ``DeliverySummary/ledgerTime``.
    case written(ledgerEnds: [Int32: Int64], timeShare: Double, offsetsAreDue: Bool, ledgerTime: Int64? = nil)
    /// The fault of a take-over or an output. `cutLedgers` have lost records that were known.
    case failed(KafkaFault, cutLedgers: Set<Int32>)
    /// `isUnknown` = only the broker knows whether the output was committed, or what the ledgers have kept.
    case aborted(isUnknown: Bool, cutLedgers: Set<Int32>)
    case closed
}

/// Writes a member's outputs. Called on the loop's queue; no call waits.
package protocol WriterHost: AnyObject {
    /// Starts a job; the next one is submitted after its final outcome.
    func submit(_ job: WriterJob)
    /// Takes the next outcome; nil = none has come.
    func nextOutcome() -> WriterOutcome?
}

/// The ports of a member to the outside: production makes them of librdkafka's clients and threads, a simulation of its
/// own parts.
package struct MemberPorts {
    package var makeConsumer: () throws(KafkaFault) -> any GroupConsumer
    package var makeReader: () throws(KafkaFault) -> any TopicReading
    package var queries: any BrokerQueries
    package var writer: any WriterHost

    package init(
        makeConsumer: @escaping () throws(KafkaFault) -> any GroupConsumer,
        makeReader: @escaping () throws(KafkaFault) -> any TopicReading,
        queries: any BrokerQueries,
        writer: any WriterHost
    ) {
        (self.makeConsumer, self.makeReader) = (makeConsumer, makeReader)
        (self.queries, self.writer) = (queries, writer)
    }
}

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
    /// Gives the client up: it ends in the background.
    func discard()
}
