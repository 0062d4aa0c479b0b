internal import Broker
internal import Kafka
internal import Pipeline
internal import Settings
internal import Streams

/// The numbers of partitions that a worker or a gateway depends on.
package struct TopicPartitions: Equatable, Sendable {
    /// The partitions of each topic but the replies.
    package let requests: Int32
    /// nil = there is no replies topic.
    package let replies: Int32?

    package init(requests: Int32, replies: Int32? = nil) { (self.requests, self.replies) = (requests, replies) }

    /// Asks the broker for those of a gateway.
    ///
    /// - Throws: ``CommandFault`` where a topic is missing, or they differ.
    init(_ topics: TopicNames, _ admin: Admin, timeoutMilliseconds: Int = 10_000) throws {
        let counts = try PartitionCounts(admin, timeoutMilliseconds: timeoutMilliseconds)
        requests = try counts.count(of: topics.requests)
        replies = try topics.replies.map { try counts.count(of: $0) }
        for stream in [OutputTopic.results, .tokens, .events] {
            guard let topic = topics.outputs[stream] else { continue }
            let other = try counts.count(of: topic)
            guard other == requests else {
                throw CommandFault(
                    "\(topics.requests) has \(Int(requests).counted("partition")) and \(topic) has \(other); they need the same number, "
                        + "and keys do not move with added partitions: \(KeyPlacement.remedy)."
                )
            }
        }
    }

    var text: String { Int(requests).counted("partition") + (replies.map { ", \($0) for replies" } ?? "") }
}
