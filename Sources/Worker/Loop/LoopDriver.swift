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
    private var result: Result<Void, any Error>?
    private var wakeScheduled = false
    /// After a fault that may pass, or while the breaker is open.
    private var pause = RetryPause()
    /// Batches committed when the last pause began.
    private var committedBefore = 0
    /// A stop was asked for before there was a loop.
    private var stopsAtOnce = false
    private let done = DispatchSemaphore(value: 0)
    private let state = Locked<(tally: LoopTally, restoring: RestoreProgress?)>((LoopTally(), nil))

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

    /// Runs `loop` to its end; returns on the calling thread, which must not be the queue's.
    ///
    /// - Parameter report: called ten times a second on the calling thread with the committed counts, and with the
    ///   restore's progress while there is one.
    func run(_ loop: BatchLoop, report: (LoopTally, RestoreProgress?) -> Void) throws {
        dispatchPrecondition(condition: .notOnQueue(queue))
        queue.async {
            self.loop = loop
            if self.stopsAtOnce { loop.stop() }
            self.step()
        }
        while true {
            let isOver = done.wait(timeout: .now() + .milliseconds(100)) == .success
            // Only a result is an end, whatever woke this thread.
            if isOver, let result = queue.sync(execute: { self.result }) { return try result.get() }
            let (tally, restoring) = state.withLock { $0 }
            report(tally, restoring)
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
        guard let loop, result == nil else { return }
        do {
            let left = pause.leftMilliseconds
            if left > 0, try !loop.serve() { return wake(after: .milliseconds(min(left, Self.servingMilliseconds))) }
            let progress = try loop.tick(waitMilliseconds: idleWaitMilliseconds)
            state.withLock { [tally = loop.tally, restoring = loop.restoring] in $0 = (tally, restoring) }
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
        self.result = result
        // The loop's lanes post through this object: without this the two would keep each other alive.
        loop = nil
        done.signal()
    }
}
