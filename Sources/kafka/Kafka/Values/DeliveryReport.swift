package import KafkaPorts

/// The fate of one record that was produced with a ticket.
package struct DeliveryReport: Sendable {
    package enum Outcome: Sendable {
        case written
        /// It was never sent, or the broker refused it: it may be produced again.
        case notWritten
        /// It was sent and not acknowledged: it may be in the topic.
        case unknown
    }

    package var ticket: UInt
    package var outcome: Outcome
    /// nil unless written.
    package var offset: Int64?
    /// The time at which the broker appended it, in milliseconds since 1970; nil where the topic keeps the producers'
    /// times.
    package var timestamp: Int64?
    /// The number of the broker that acknowledged it.
    package var broker: Int32?
    package var fault: KafkaFault?

    package init(
        ticket: UInt,
        outcome: Outcome,
        offset: Int64? = nil,
        timestamp: Int64? = nil,
        broker: Int32? = nil,
        fault: KafkaFault? = nil
    ) {
        (self.ticket, self.outcome, self.offset) = (ticket, outcome, offset)
        (self.timestamp, self.broker, self.fault) = (timestamp, broker, fault)
    }
}
