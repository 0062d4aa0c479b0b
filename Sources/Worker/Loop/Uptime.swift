internal import Glibc

/// Time since the machine's start: it cannot be set, and it runs while the machine sleeps.
enum Uptime {
    @Sendable static func milliseconds() -> Int64? {
        var time = timespec()
        // The structure lives on this stack, and the call does not keep it.
        guard unsafe clock_gettime(CLOCK_BOOTTIME, &time) == 0 else { return nil }
        return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    }
}
