package import Dispatch
package import KafkaPorts
package import Member
internal import Pipeline
internal import Threads

/// Runs an ``OutputWriter`` on a separate queue: one step, then whatever was posted meanwhile, then the next step.
package final class WriterThread: WriterHost, @unchecked Sendable {
    private let queue: DispatchQueue
    private let outcomes = Locked<[WriterOutcome]>([])
    private let clock: @Sendable () -> Moment
    private let wake: @Sendable () -> Void
    private let closed = DispatchSemaphore(value: 0)
    /// The owner of all that follows.
    private var owner = Owner("WriterThread")
    private var isBusy = false
    private var isTakingOver = false
    private var isEnding = false
    private let writer: OutputWriter

    /// - Parameters:
    ///   - queue: of the writer alone; one that may own classes.
    ///   - clock: read once a step.
    ///   - wake: called once an outcome has come, on the writer's queue.
    ///   - makeProducer: called on the queue, for each producer.
    package init(
        _ settings: OutputWriter.Settings,
        on queue: DispatchQueue,
        clock: @escaping @Sendable () -> Moment,
        wake: @escaping @Sendable () -> Void,
        makeProducer: @escaping @Sendable () throws(KafkaFault) -> OutputWriter.Producer
    ) {
        (self.queue, self.clock, self.wake) = (queue, clock, wake)
        writer = OutputWriter(settings, makeProducer: makeProducer)
    }

    package func submit(_ job: WriterJob) {
        queue.async { [self] in
            owner.check()
            isBusy = true
            if case .takeOver = job { isTakingOver = true } else { isTakingOver = false }
            writer.accept(job, at: clock())
            step()
        }
    }

    /// Ends the writer once its job has ended, and waits for that, for so long at most. No job may follow.
    ///
    /// - Returns: whether it has ended.
    @discardableResult
    package func finish(limit milliseconds: Int = 10_000) -> Bool {
        queue.async { [self] in
            isEnding = true
            end()
        }
        return closed.wait(timeout: .now() + .milliseconds(milliseconds)) == .success
    }

    private func end() {
        owner.check()
        // Taking over may last for as long as the coordinator is absent, and nothing is open yet.
        if isEnding, isBusy, isTakingOver { closed.signal() }
        guard isEnding, !isBusy else { return }
        isEnding = false
        submit(.close)
    }

    private func step() {
        owner.check()
        assert(isBusy, "a step belongs to a job")
        if isEnding, isTakingOver { return }
        switch writer.step(at: clock()) {
        case .again: queue.async { [self] in step() }
        case .report(let outcome):
            note(outcome)
            queue.async { [self] in step() }
        case .done(let outcome):
            isBusy = false
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
