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
    /// The same for ledgers that a standby follows.
    package var makeStandbyReader: () throws(KafkaFault) -> any TopicReading
    package var queries: any BrokerQueries
    package var writer: any WriterHost
    /// nil = no copies of ledgers are kept.
    package var files: (any LedgerFiles)?

    package init(
        makeConsumer: @escaping () throws(KafkaFault) -> any GroupConsumer,
        makeReader: @escaping () throws(KafkaFault) -> any TopicReading,
        queries: any BrokerQueries,
        writer: any WriterHost
    ) {
        (self.makeConsumer, self.makeReader) = (makeConsumer, makeReader)
        makeStandbyReader = makeReader
        (self.queries, self.writer) = (queries, writer)
    }
}
