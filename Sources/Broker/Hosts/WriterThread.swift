package import Dispatch
package import KafkaPorts
package import Member
internal import Pipeline

/// Runs a ``UnitWriter`` on a separate queue: one step, then whatever was posted meanwhile, then the next step.
package final class WriterThread: WriterHost, Sendable {
    private let queue: DispatchQueue
    private let outcomes = Locked<[WriterOutcome]>([])
    private let clock: @Sendable () -> Moment
    private let wake: @Sendable () -> Void
    private let closed = DispatchSemaphore(value: 0)
    // Only ever touched on `queue`.
    private nonisolated(unsafe) var isBusy = false
    private nonisolated(unsafe) var isTakingOver = false
    private nonisolated(unsafe) var isEnding = false
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
            unsafe isBusy = true
            if case .takeOver = job { unsafe isTakingOver = true } else { unsafe isTakingOver = false }
            unsafe writer.accept(job, at: clock())
            step()
        }
    }

    /// Ends the writer once its job has ended, and waits for that, for so long at most. No job may follow.
    ///
    /// - Returns: whether it has ended.
    @discardableResult
    package func finish(limit milliseconds: Int = 10_000) -> Bool {
        queue.async { [self] in
            unsafe isEnding = true
            end()
        }
        return closed.wait(timeout: .now() + .milliseconds(milliseconds)) == .success
    }

    private func end() {
        // Taking over may last for as long as the coordinator is absent, and nothing is open yet.
        if unsafe isEnding, unsafe isBusy, unsafe isTakingOver { closed.signal() }
        guard unsafe isEnding, unsafe !isBusy else { return }
        unsafe isEnding = false
        submit(.close)
    }

    private func step() {
        if unsafe isEnding, unsafe isTakingOver { return }
        switch unsafe writer.step(at: clock()) {
        case .again: queue.async { [self] in step() }
        case .report(let outcome):
            note(outcome)
            queue.async { [self] in step() }
        case .done(let outcome):
            unsafe isBusy = false
            note(outcome)
            if case .closed = outcome { closed.signal() } else { end() }
        }
    }

    private func note(_ outcome: WriterOutcome) {
        outcomes.withLock { $0.append(outcome) }
        wake()
    }

    package func nextOutcome() -> WriterOutcome? { outcomes.withLock { $0.isEmpty ? nil : $0.removeFirst() } }
}
