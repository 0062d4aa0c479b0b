package import Member
package import Pipeline
internal import Synchronization

/// A loop as other threads see it.
package protocol WatchedLoop: AnyObject, Sendable {
    /// The state as of the loop's last step.
    var state: LoopState { get }
    /// The time at which the loop's thread last showed life.
    var life: LifeSign { get }
    var hasEnded: Bool { get }
}

/// The counts of what a loop has committed, and a restore's progress.
package struct LoopState: Sendable {
    package var tally = LoopTally()
    package var restoring: RestoreProgress?
    /// The loop in detail, a little older than the counts; nil = it is not looked at.
    package var loop: LoopSnapshot?
    package var member: MemberSnapshot?
    /// The last tick met a fault that may pass.
    package var isBackingOff = false

    package init() {}
}

/// The time at which a thread last showed life: noted by it, read by any other.
package final class LifeSign: Sendable {
    /// A time that only goes on while the machine is awake.
    package typealias Stopwatch = @Sendable () -> Duration

    private let elapsed: Stopwatch
    /// Milliseconds of the stopwatch.
    private let noted: Atomic<Int64>

    package init(elapsed: @escaping Stopwatch = LifeSign.stopwatch()) {
        self.elapsed = elapsed
        noted = Atomic(Self.milliseconds(elapsed()))
    }

    package static func stopwatch() -> Stopwatch {
        let start = SuspendingClock.now
        return { SuspendingClock.now - start }
    }

    package func note() { noted.store(Self.milliseconds(elapsed()), ordering: .relaxed) }

    package var age: Duration { .milliseconds(max(0, Self.milliseconds(elapsed()) - noted.load(ordering: .relaxed))) }

    private static func milliseconds(_ duration: Duration) -> Int64 {
        let (seconds, attoseconds) = duration.components
        return seconds * 1_000 + attoseconds / 1_000_000_000_000_000
    }
}
