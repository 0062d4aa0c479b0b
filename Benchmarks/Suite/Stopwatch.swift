internal import Foundation

/// Wall clock and processor time of one measured piece of work.
struct Elapsed {
    /// Seconds on the wall.
    var wall: Double
    /// Seconds of processor time of all threads together: what is left of noise by neighbours.
    var processor: Double

    static func of(_ work: () -> Void) -> Elapsed {
        let before = (seconds(CLOCK_MONOTONIC), seconds(CLOCK_PROCESS_CPUTIME_ID))
        work()
        let after = (seconds(CLOCK_MONOTONIC), seconds(CLOCK_PROCESS_CPUTIME_ID))
        return Elapsed(wall: after.0 - before.0, processor: after.1 - before.1)
    }

    private static func seconds(_ clock: clockid_t) -> Double {
        var time = timespec()
        // The kernel writes into the local value.
        unsafe clock_gettime(clock, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
