internal import Synchronization

/// When a thread last showed life: noted by it, read by any other.
final class LifeSign: Sendable {
    /// A time that only goes on while the machine is awake.
    typealias Stopwatch = @Sendable () -> Duration

    private let elapsed: Stopwatch
    /// Milliseconds of the stopwatch.
    private let noted: Atomic<Int64>

    init(elapsed: @escaping Stopwatch = LifeSign.stopwatch()) {
        self.elapsed = elapsed
        noted = Atomic(Self.milliseconds(elapsed()))
    }

    static func stopwatch() -> Stopwatch {
        let start = SuspendingClock.now
        return { SuspendingClock.now - start }
    }

    func note() { noted.store(Self.milliseconds(elapsed()), ordering: .relaxed) }

    var age: Duration { .milliseconds(max(0, Self.milliseconds(elapsed()) - noted.load(ordering: .relaxed))) }

    private static func milliseconds(_ duration: Duration) -> Int64 {
        let (seconds, attoseconds) = duration.components
        return seconds * 1_000 + attoseconds / 1_000_000_000_000_000
    }
}
