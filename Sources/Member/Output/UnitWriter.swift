package import KafkaPorts

/// Writes units, one step at a time; each step makes one call of the port, so that anything may happen between two.
/// Confined to the writer's queue; time is handed in.
package final class UnitWriter {
    package enum Producer {
        case transactional(any TransactionProducer)
        case idempotent(any RecordProducer)
    }

    package enum Step {
        /// The job goes on with the next step.
        case again
        /// As ``again``, with news for the member.
        case report(WriterOutcome)
        case done(WriterOutcome)
    }

    private let settings: Settings
    private let makeProducer: () throws(KafkaFault) -> Producer

    package init(_ settings: Settings, makeProducer: @escaping () throws(KafkaFault) -> Producer) {
        (self.settings, self.makeProducer) = (settings, makeProducer)
    }

    /// One job at a time.
    package func accept(_ job: WriterJob, at now: Moment) {}

    /// Called again while it answers ``Step/again`` or ``Step/report(_:)``.
    package func step(at now: Moment) -> Step { .done(.closed) }
}
