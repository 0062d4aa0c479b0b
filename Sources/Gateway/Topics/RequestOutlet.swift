package import Kafka

/// The outlet for a gateway's records.
package protocol RequestOutlet: Sendable {
    /// Writes a record. Must not wait for the broker.
    func write(_ record: OutboundRequest)
}

/// A record for the requests topic, or for that of events.
package struct OutboundRequest: Sendable {
    package let topic: String
    package let partition: Int32
    package let key: [UInt8]?
    package let value: [UInt8]
    package let headers: [KafkaHeader]
    /// nil = no report is needed.
    package let ticket: UInt?

    package init(
        topic: String,
        partition: Int32,
        key: [UInt8]?,
        value: [UInt8],
        headers: [KafkaHeader],
        ticket: UInt?
    ) {
        (self.topic, self.partition, self.key) = (topic, partition, key)
        (self.value, self.headers, self.ticket) = (value, headers, ticket)
    }
}
