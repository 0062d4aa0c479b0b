internal import Glibc
internal import Kafka
internal import Settings

/// This process, as the kernel sees it, and what it could not end.
package struct ProcessFigures: Sendable {
    var residentBytes: Int64 = 0
    /// nil = no control group limits it.
    var memoryLimit: Int64?
    var processorSeconds = 0.0
    /// Seconds since 1970.
    var startTime = 0.0
    var openFiles = 0
    /// Clients of the broker that could not be ended.
    var abandonedClients = 0
    /// The time by which brokers held back answers, in milliseconds, by the broker's name.
    var throttles: [String: Int] = [:]

    /// - Parameter start: ``startTimeOfProcess()``, asked once.
    package static func now(start: Double) -> ProcessFigures {
        ProcessFigures(
            residentBytes: residentBytes(),
            memoryLimit: MemoryLimit.bytes,
            processorSeconds: Double(ProcessorTime.ofProcess()) / 1e9,
            startTime: start,
            openFiles: Folder.names(in: "/proc/self/fd").count,
            abandonedClients: ClientCloser.shared.abandoned,
            throttles: ClientThrottles.milliseconds
        )
    }

    @Sendable static func residentBytes() -> Int64 {
        let pages = text("/proc/self/statm").split(separator: " ").dropFirst().first.flatMap { Int64($0) }
        return (pages ?? 0) * Int64(sysconf(Int32(_SC_PAGESIZE)))
    }

    /// Seconds since 1970; the present time where the kernel does not say.
    package static func startTimeOfProcess() -> Double {
        let now = Double(WallClock.milliseconds()) / 1000
        // The 22nd word; the second one is a name in parentheses, which may have spaces.
        let text = text("/proc/self/stat")
        guard let name = text.lastIndex(of: ")"), let uptime = Uptime.milliseconds() else { return now }
        let words = text[text.index(after: name)...].split(separator: " ")
        guard words.count > 19, let ticks = Double(words[19]) else { return now }
        return now - Double(uptime) / 1000 + ticks / Double(sysconf(Int32(_SC_CLK_TCK)))
    }

    private static func text(_ path: String) -> String { WholeFile.text(path) ?? "" }
}

package enum ProcessorTime {
    /// Nanoseconds that the calling thread has used.
    @Sendable package static func ofThread() -> Int64 { nanoseconds(CLOCK_THREAD_CPUTIME_ID) ?? 0 }

    /// Nanoseconds that all threads have used.
    @Sendable package static func ofProcess() -> Int64 { nanoseconds(CLOCK_PROCESS_CPUTIME_ID) ?? 0 }
}

/// Time since the machine's start: it cannot be set, and it runs while the machine sleeps.
package enum Uptime {
    @Sendable package static func milliseconds() -> Int64? { nanoseconds(CLOCK_BOOTTIME).map { $0 / 1_000_000 } }
}

private func nanoseconds(_ clock: clockid_t) -> Int64? {
    var time = timespec()
    // The structure lives on this stack, and the call does not keep it.
    guard unsafe clock_gettime(clock, &time) == 0 else { return nil }
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}
