internal import Kafka
internal import KafkaPorts
internal import Pipeline
internal import Settings

/// Turns a refusal by the broker into a line that names the missing right and what it is on.
struct AccessRights: Sendable {
    private let topics: TopicNames
    private let group: String
    private let transactionalID: String

    init(_ settings: BrokerSettings) throws(KafkaFault) {
        topics = settings.topics
        transactionalID = try settings.stableID()
        group = KafkaProperties(settings.properties)["group.id"] ?? ""
    }

    /// The same fault with the missing right added; a fault that is not a refusal is returned as it is.
    ///
    /// - Parameter reading: the topic that was being read; nil = outputs were being written.
    func explained(_ fault: KafkaFault, reading: String? = nil) -> KafkaFault {
        guard let right = missing(fault, reading), !fault.message.hasSuffix(Self.ending) else { return fault }
        return fault.with(message: "\(fault.message): the right \(right)\(Self.ending)")
    }

    private static let ending = " is missing"

    private func missing(_ fault: KafkaFault, _ reading: String?) -> String? {
        switch fault.refusedResource {
        case nil: nil
        case .topic:
            if let reading { "Read on topic \(reading)" } else { written(fault) }
        case .group: "Read on group \(group)"
        case .transactionalID: "Write on transactional id \(transactionalID)"
        case .cluster: "IdempotentWrite on the cluster"
        }
    }

    private func written(_ fault: KafkaFault) -> String {
        let named = topics.all.filter { fault.message.contains($0) }
        // The failed action may concern another topic. One topic's name may be the beginning of another's.
        guard let topic = fault.refusedTopic ?? named.max(by: { $0.utf8.count < $1.utf8.count }) else {
            return "Write on one of the topics " + topics.all.dropFirst().joined(separator: ", ")
        }
        return "\(topic == topics.requests ? "Read" : "Write") on topic \(topic)"
    }
}
