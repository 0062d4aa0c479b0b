internal import Dispatch
internal import KafkaPorts
internal import Member
internal import Pipeline
package import Telemetry
internal import Threads

/// Runs a ``BatchLoop`` on a serial queue of its own until it has finished.
///
/// Lanes post their results onto the same queue; each result and each piece of work makes the loop run again.
package final class LoopDriver: WatchedLoop, @unchecked Sendable {
    /// How often a pause is interrupted to serve the group.
    private static let servingMilliseconds = 250

    /// How often the loop looks while an answer is waited for, which wakes it.
    private static let answerPoll = DispatchTimeInterval.milliseconds(25)

    /// The queue that the loop and its streams live on.
    private let queue = DispatchQueue(owner: "loop", qos: .userInitiated)
    private let idleWaitMilliseconds: Int
    private let eagerPoll: DispatchTimeInterval
    // What is not shared is touched on `queue` only, as each entry checks.
    private var loop: BatchLoop?
    private var wakeScheduled = false
    private let began = ContinuousClock.now
    /// The pause after a fault that may pass, or while the breaker is open.
    private var pause = RetryPause()
    /// Batches committed when the last pause began.
    private var committedBefore = 0
    /// A stop was asked for before there was a loop.
    private var stopsAtOnce = false
    private var ended: (@Sendable () -> Void)?
    private let shared = Locked<Shared>(Shared())
    /// Says what the loop's member knows; nil = the loop is not looked at.
    private var memberSnapshot: (() -> MemberSnapshot)?
    private var snapshotAt: ContinuousClock.Instant?
    package let life: LifeSign

    /// The part that other threads may know.
    private struct Shared {
        var state = LoopState()
        var outcome: Result<Void, any Error>?
    }

    /// Pause between two snapshots of the loop.
    private static let snapshotInterval = Duration.milliseconds(100)

    /// - Parameters:
    ///   - idleWaitMilliseconds: how long a poll waits while nothing is in flight.
    ///   - eagerPollMilliseconds: pause before the next poll while batches are with the lanes.
    package init(idleWaitMilliseconds: Int, eagerPollMilliseconds: Int = 2, life: LifeSign = LifeSign()) {
        self.life = life
        self.idleWaitMilliseconds = idleWaitMilliseconds
        eagerPoll = .milliseconds(eagerPollMilliseconds)
    }

    /// Runs a block on the loop's queue, where its streams live, and waits for it. Not to be called on that queue.
    func onQueue<Result>(_ body: () throws -> Result) rethrows -> Result {
        dispatchPrecondition(condition: .notOnQueue(queue))
        return try queue.sync(execute: body)
    }

    /// Makes the loop look whether a completion has come.
    @Sendable func wake() { queue.async { self.step() } }

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
    /// - Parameters:
    ///   - memberSnapshot: asked on the queue, some times a second; nil = the loop is not looked at in detail.
    ///   - ended: called on the queue when the loop has ended.
    func start(
        _ loop: BatchLoop,
        memberSnapshot: (() -> MemberSnapshot)? = nil,
        ended: @escaping @Sendable () -> Void
    ) {
        // Called on the queue only, as all of the loop's streams are.
        nonisolated(unsafe) let memberSnapshot = memberSnapshot
        queue.async {
            self.loop = loop
            self.memberSnapshot = unsafe memberSnapshot
            self.ended = ended
            if self.stopsAtOnce { loop.stop() }
            self.step()
        }
    }

    package var state: LoopState { shared.withLock { $0.state } }

    /// nil = the loop has not ended.
    var outcome: Result<Void, any Error>? { shared.withLock { $0.outcome } }

    package var hasEnded: Bool { outcome != nil }

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
        life.note()
        defer { life.note() }
        do {
            // The outcome of a commit does not wait for the end of a pause.
            let left = loop.hasOutcome ? 0 : pause.left(at: now)
            if left > 0, try !loop.serve() {
                takeSnapshot(of: loop)
                return wake(after: .milliseconds(min(left, Self.servingMilliseconds)))
            }
            let progress = try loop.tick(waitMilliseconds: idleWaitMilliseconds)
            publish(loop, isBackingOff: progress == .backOff)
            switch progress {
            case .worked: queue.async { self.step() }
            case .waiting:
                loop.isIdle
                    ? queue.async { self.step() } : wake(after: loop.isAwaiting ? Self.answerPoll : eagerPoll)
            case .backOff:
                backOff(loop)
                if loop.hasOutcome { queue.async { self.step() } }
            case .finished: finish(.success(()))
            }
        } catch { finish(.failure(error)) }
    }

    private func publish(_ loop: BatchLoop, isBackingOff: Bool) {
        shared.withLock { [tally = loop.tally, restoring = loop.restoring] in
            ($0.state.tally, $0.state.restoring, $0.state.isBackingOff) = (tally, restoring, isBackingOff)
        }
        takeSnapshot(of: loop)
    }

    /// Not at every step: it costs some time for each partition.
    private func takeSnapshot(of loop: BatchLoop) {
        guard let memberSnapshot else { return }
        let now = ContinuousClock.now
        if let snapshotAt, now - snapshotAt < Self.snapshotInterval { return }
        snapshotAt = now
        let (view, member) = (loop.snapshot(), memberSnapshot())
        shared.withLock { ($0.state.loop, $0.state.member) = (view, member) }
    }

    /// Longer each time, until a batch is committed in between.
    private func backOff(_ loop: BatchLoop) {
        if loop.tally.batches > committedBefore { pause.succeed() }
        committedBefore = loop.tally.batches
        let now = now
        pause.fail(at: now)
        wake(after: .milliseconds(min(pause.left(at: now), Self.servingMilliseconds)))
    }

    private var now: Moment { Moment(milliseconds: Int64((ContinuousClock.now - began) / .milliseconds(1))) }

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
        if let loop {
            snapshotAt = nil
            publish(loop, isBackingOff: false)
        }
        // The loop's lanes post through this object: without this the two would keep each other alive.
        loop = nil
        assert(outcome == nil, "a loop ends once")
        shared.withLock { $0.outcome = result }
        ended?()
        ended = nil
    }
}
