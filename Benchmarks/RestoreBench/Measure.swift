internal import Foundation

/// Clocks and memory of this process.
enum Measure {
    static var wall: Double { seconds(CLOCK_MONOTONIC) }
    /// Of all threads together: what is left of noise by neighbours.
    static var processor: Double { seconds(CLOCK_PROCESS_CPUTIME_ID) }

    /// Bytes in memory.
    static var resident: Int {
        let pages = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ")
        return (pages?.dropFirst().first.flatMap { Int($0) } ?? 0) * 4096
    }

    private static func seconds(_ clock: clockid_t) -> Double {
        var time = timespec()
        // The kernel writes into the local value.
        unsafe clock_gettime(clock, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
