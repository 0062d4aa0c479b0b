internal import Kafka
internal import KafkaPorts

/// The beginnings and ends of the ledger's and the requests' partitions, as far as their leaders have answered.
struct EndAnswers: Sendable {
    private(set) var ends: [Int32: Watermarks] = [:]
    private(set) var requests: [Int32: Watermarks] = [:]
    private(set) var fault: KafkaFault?

    /// Asks all at once; if that fails, asks for each alone, since one absent leader would hold up all.
    ///
    /// - Parameter again: asked with the others; of these only the first alone, since questions of other assignments
    ///   wait for this one.
    init(
        _ asker: PartitionEnds,
        _ topics: (ledger: String, requests: String),
        _ partitions: [Int32],
        _ again: [Int32]
    ) {
        do throws(KafkaFault) {
            try ask(asker, topics, partitions + again, BrokerAsker.limit)
        } catch {
            fault = error
            guard error.isRetriable || error.isMissingTopic, partitions.count + again.count > 1 else { return }
            for partition in partitions + again.prefix(1) {
                try? ask(asker, topics, [partition], Self.aloneMilliseconds)
            }
        }
    }

    /// The ledger first, so that everything read of it lies before the requests' ends.
    private mutating func ask(
        _ asker: PartitionEnds,
        _ topics: (ledger: String, requests: String),
        _ partitions: [Int32],
        _ timeout: Int
    ) throws(KafkaFault) {
        let ledger = try asker.watermarks(of: topics.ledger, partitions, timeoutMilliseconds: timeout)
        let requests = try asker.watermarks(of: topics.requests, partitions, timeoutMilliseconds: timeout)
        ends.merge(ledger) { $1 }
        self.requests.merge(requests) { $1 }
    }

    private static let aloneMilliseconds = 1_000
}
