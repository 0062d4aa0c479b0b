internal import Kafka
internal import Pipeline

/// Where the outputs of one batch go, and how they and the batch's input positions become durable together.
///
/// One implementation per delivery guarantee; the log that polls is the same for all.
protocol OutputUnit: AnyObject {
    func begin() throws
    func append(_ records: [OutboundRecord]) throws
    /// Makes the unit durable together with the positions. Throws where it is not certain that it is.
    func commit(_ positions: [PartitionPosition], of consumer: Consumer) throws
    /// Ends the unit without committing it and leaves everything ready for the next one.
    func abort() throws
    func close()
}
