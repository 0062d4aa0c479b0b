internal import Glibc

/// Processor time.
package enum ProcessorTime {
    /// Nanoseconds that the calling thread has used.
    @Sendable package static func ofThread() -> Int64 { nanoseconds(CLOCK_THREAD_CPUTIME_ID) }

    /// Nanoseconds that all threads have used.
    @Sendable package static func ofProcess() -> Int64 { nanoseconds(CLOCK_PROCESS_CPUTIME_ID) }

    private static func nanoseconds(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        // The structure lives on this stack, and the call does not keep it.
        guard unsafe clock_gettime(clock, &time) == 0 else { return 0 }
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}

/// Time since the machine's start: it cannot be set, and it runs while the machine sleeps.
package enum Uptime {
    @Sendable package static func milliseconds() -> Int64? {
        var time = timespec()
        // The structure lives on this stack, and the call does not keep it.
        guard unsafe clock_gettime(CLOCK_BOOTTIME, &time) == 0 else { return nil }
        return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    }
}
