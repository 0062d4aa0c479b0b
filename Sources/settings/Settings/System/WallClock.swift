package import AppAttest
internal import Glibc

package enum WallClock {
    @Sendable package static func now() -> EvaluationTime { EvaluationTime(milliseconds: milliseconds()) }

    /// The milliseconds since 1970.
    @Sendable package static func milliseconds() -> Int64 {
        var time = timespec()
        // The structure lives on this stack, and the call does not keep it.
        guard unsafe clock_gettime(CLOCK_REALTIME, &time) == 0 else { return 0 }
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }
}
