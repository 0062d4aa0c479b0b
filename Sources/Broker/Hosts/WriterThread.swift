package import Dispatch
package import KafkaPorts
package import Member
internal import Pipeline

/// Runs a ``UnitWriter`` on a queue of its own: one step, then whatever was posted meanwhile, then the next step.
package final class WriterThread: WriterHost, Sendable {
    private let queue: DispatchQueue
    private let outcomes = Locked<[WriterOutcome]>([])
    private let clock: @Sendable () -> Moment
    private let wake: @Sendable () -> Void
    // Only ever touched on `queue`.
    private nonisolated(unsafe) let writer: UnitWriter

    /// - Parameters:
    ///   - queue: of the writer alone.
    ///   - clock: read once a step.
    ///   - wake: called once an outcome has come, on the writer's queue.
    ///   - makeProducer: called on the queue, for each producer.
    package init(
        _ settings: UnitWriter.Settings,
        on queue: DispatchQueue,
        clock: @escaping @Sendable () -> Moment,
        wake: @escaping @Sendable () -> Void,
        makeProducer: @escaping @Sendable () throws(KafkaFault) -> UnitWriter.Producer
    ) {
        (self.queue, self.clock, self.wake) = (queue, clock, wake)
        unsafe writer = UnitWriter(settings, makeProducer: makeProducer)
    }

    package func submit(_ job: WriterJob) {
        queue.async { [self] in
            unsafe writer.accept(job, at: clock())
            step()
        }
    }

    private func step() {
        switch unsafe writer.step(at: clock()) {
        case .again: queue.async { [self] in step() }
        case .report(let outcome):
            note(outcome)
            queue.async { [self] in step() }
        case .done(let outcome): note(outcome)
        }
    }

    private func note(_ outcome: WriterOutcome) {
        outcomes.withLock { $0.append(outcome) }
        wake()
    }

    package func nextOutcome() -> WriterOutcome? { outcomes.withLock { $0.isEmpty ? nil : $0.removeFirst() } }
}
