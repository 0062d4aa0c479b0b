internal import Foundation

/// Decides that a wait is over without success: what it watches has stood still for 30 s.
///
/// A wait has no deadline, since a slow machine is no fault. It watches a mark, a value that changes as the work goes on.
package struct StandstillWatch<Mark: Equatable> {
    private let limit: Duration
    private var mark: Mark?
    private var quiet = Duration.zero
    private var lastPoll = ContinuousClock.now

    /// - Parameter seconds: less than 30 only where a standstill is what the test expects.
    package init(seconds: Int = 30) { limit = .seconds(seconds) }

    /// Looks at the mark. A look counts as one second at most: then this process, or the machine, did not run.
    ///
    /// - Returns: whether the mark has stood still for the limit.
    package mutating func isStill(_ mark: Mark) -> Bool {
        let now = ContinuousClock.now
        quiet = mark == self.mark ? quiet + min(now - lastPoll, .seconds(1)) : .zero
        (self.mark, lastPoll) = (mark, now)
        return quiet >= limit
    }
}

/// Looks at a mark every few milliseconds until it is as wanted.
///
/// - Parameters:
///   - seconds: of standstill; less than 30 only where a standstill is what the test expects.
///   - mark: what changes as the work goes on, such as a count.
/// - Returns: false once the mark has stood still for so long.
package func eventually<Mark: Equatable>(
    seconds: Int = 30,
    _ mark: () throws -> Mark,
    until isDone: (Mark) throws -> Bool
) rethrows -> Bool {
    var watch = StandstillWatch<Mark>(seconds: seconds)
    while true {
        let mark = try mark()
        if try isDone(mark) { return true }
        if watch.isStill(mark) { return false }
        pause(milliseconds: 10)
    }
}

/// Gives other threads time. What happens meanwhile must not decide a test.
package func pause(milliseconds: Int) { pause(microseconds: milliseconds * 1_000) }

package func pause(microseconds: Int) { usleep(UInt32(microseconds)) }

/// Does something on another thread after a while, at the earliest.
package func later(milliseconds: Int, _ work: @escaping @Sendable () -> Void) {
    // Those of the queues may all wait in other tests.
    Thread.detachNewThread {
        pause(microseconds: milliseconds * 1_000)
        work()
    }
}

/// The system's time of day in milliseconds, beside which the program's own is held.
package func timeOfDay() -> Int64 { Int64(Date().timeIntervalSince1970 * 1_000) }

/// Time that has passed, for lower bounds only: how long something takes at most depends on the machine.
package struct Stopwatch {
    private let start = ContinuousClock.now

    package init() {}

    package var elapsed: Duration { ContinuousClock.now - start }
}

extension Int {
    /// The limit of a call whose progress cannot be seen: the stage that runs the tests ends first.
    package static var noLimit: Int { 1_200_000 }
}

/// Moments to count from, for clocks that the test moves itself.
package let anyMoment = ContinuousClock.now
package let anyUptime = SuspendingClock.now
