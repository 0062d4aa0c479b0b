internal import Broker
internal import Dispatch
internal import Pipeline

/// Runs a ``BatchLoop`` on a serial queue of its own until it has finished.
///
/// Lanes post their results onto the same queue; each result and each piece of work makes the loop run again.
final class LoopDriver: @unchecked Sendable {
    /// How often a pause is interrupted to serve the group.
    private static let servingMilliseconds = 250

    private let queue = DispatchQueue(label: "loop", qos: .userInitiated)
    private let idleWaitMilliseconds: Int
    private let eagerPoll: DispatchTimeInterval
    // Everything below is touched on `queue` only.
    private var loop: BatchLoop?
    private var wakeScheduled = false
    /// After a fault that may pass, or while the breaker is open.
    private var pause = RetryPause()
    /// Batches committed when the last pause began.
    private var committedBefore = 0
    /// A stop was asked for before there was a loop.
    private var stopsAtOnce = false
    private var ended: (@Sendable () -> Void)?
    private let shared = Locked<Shared>(Shared())

    /// What other threads may know.
    private struct Shared {
        var state = State()
        var outcome: Result<Void, any Error>?
    }

    /// What a loop has committed, and how far a restore is.
    struct State {
        var tally = LoopTally()
        var restoring: RestoreProgress?
    }

    /// - Parameters:
    ///   - idleWaitMilliseconds: how long a poll waits while nothing is in flight.
    ///   - eagerPollMilliseconds: pause before the next poll while batches are with the lanes.
    init(idleWaitMilliseconds: Int, eagerPollMilliseconds: Int = 2) {
        self.idleWaitMilliseconds = idleWaitMilliseconds
        eagerPoll = .milliseconds(eagerPollMilliseconds)
    }

    /// The `post` argument of a ``BatchLoop``.
    var post: @Sendable (@escaping @Sendable () -> Void) -> Void {
        { block in
            self.queue.async {
                block()
                self.step()
            }
        }
    }

    /// Starts to run `loop`, and returns.
    ///
    /// - Parameter ended: called on the queue when the loop has ended.
    func start(_ loop: BatchLoop, ended: @escaping @Sendable () -> Void) {
        queue.async {
            self.loop = loop
            self.ended = ended
            if self.stopsAtOnce { loop.stop() }
            self.step()
        }
    }

    /// As of the loop's last step.
    var state: State { shared.withLock { $0.state } }

    /// nil = the loop has not ended.
    var outcome: Result<Void, any Error>? { shared.withLock { $0.outcome } }

    /// Runs `loop` to its end; returns on the calling thread, which must not be the queue's.
    ///
    /// - Parameter report: called ten times a second on the calling thread with the committed counts, and with the
    ///   restore's progress while there is one.
    func run(_ loop: BatchLoop, report: (LoopTally, RestoreProgress?) -> Void) throws {
        dispatchPrecondition(condition: .notOnQueue(queue))
        let done = DispatchSemaphore(value: 0)
        start(loop) { done.signal() }
        while true {
            _ = done.wait(timeout: .now() + .milliseconds(100))
            // Only an outcome is an end, whatever woke this thread.
            if let outcome { return try outcome.get() }
            let state = state
            report(state.tally, state.restoring)
        }
    }

    /// Asks the loop to finish the batches in flight and end; works also before the loop runs.
    func stop() {
        queue.async {
            self.stopsAtOnce = true
            self.loop?.stop()
            self.pause.succeed()
            self.step()
        }
    }

    private func step() {
        dispatchPrecondition(condition: .onQueue(queue))
        guard let loop else { return }
        do {
            // The outcome of a commit does not wait for the end of a pause.
            let left = loop.hasOutcome ? 0 : pause.leftMilliseconds
            if left > 0, try !loop.serve() { return wake(after: .milliseconds(min(left, Self.servingMilliseconds))) }
            let progress = try loop.tick(waitMilliseconds: idleWaitMilliseconds)
            shared.withLock { [tally = loop.tally, restoring = loop.restoring] in
                $0.state = State(tally: tally, restoring: restoring)
            }
            switch progress {
            case .worked: queue.async { self.step() }
            case .waiting: loop.isIdle ? queue.async { self.step() } : wake(after: eagerPoll)
            case .backOff: backOff(loop)
            case .finished: finish(.success(()))
            }
        } catch { finish(.failure(error)) }
    }

    /// Longer each time, until a batch is committed in between.
    private func backOff(_ loop: BatchLoop) {
        if loop.tally.batches > committedBefore { pause.succeed() }
        committedBefore = loop.tally.batches
        pause.fail()
        wake(after: .milliseconds(min(pause.leftMilliseconds, Self.servingMilliseconds)))
    }

    /// One timer at a time: results that come in between run a step themselves.
    private func wake(after interval: DispatchTimeInterval) {
        dispatchPrecondition(condition: .onQueue(queue))
        guard !wakeScheduled else { return }
        wakeScheduled = true
        queue.asyncAfter(deadline: .now() + interval) {
            self.wakeScheduled = false
            self.step()
        }
    }

    private func finish(_ result: Result<Void, any Error>) {
        dispatchPrecondition(condition: .onQueue(queue))
        // The loop's lanes post through this object: without this the two would keep each other alive.
        loop = nil
        shared.withLock { $0.outcome = result }
        ended?()
        ended = nil
    }
}
