internal import Glibc

/// How many processors this process may use: what its affinity allows, and what the quota of its control groups pays for.
package enum UsableCores {
    /// The cores of this process, as of now; at least 1.
    package static var count: Int {
        count(
            affinity: affinity(WholeFile.text("/proc/self/status") ?? "", online: sysconf(Int32(_SC_NPROCESSORS_ONLN))),
            groups: WholeFile.text("/proc/self/cgroup") ?? ""
        ) { WholeFile.text("/sys/fs/cgroup\($0)") }
    }

    /// The processors that the process may run on.
    ///
    /// - Parameter status: `/proc/self/status`; its line `Cpus_allowed` is a mask, which may have processors that are away.
    package static func affinity(_ status: String, online: Int) -> Int {
        let mask = status.split(separator: "\n").first { $0.hasPrefix("Cpus_allowed:") }?.split(separator: "\t").last
        let allowed = (mask ?? "").compactMap(\.hexDigitValue).reduce(0) { $0 + $1.nonzeroBitCount }
        return max(1, allowed > 0 ? min(allowed, online) : online)
    }

    /// - Parameters:
    ///   - groups: `/proc/self/cgroup`.
    ///   - read: a file below `/sys/fs/cgroup`; nil = there is none.
    package static func count(affinity: Int, groups: String, read: (String) -> String?) -> Int {
        let quotas = ControlGroups.folders(of: "cpu", groups).compactMap { folder, isFirst in
            isFirst
                ? quota(read("\(folder)/cpu.cfs_quota_us"), of: read("\(folder)/cpu.cfs_period_us"))
                : quota(read("\(folder)/cpu.max"))
        }
        // Half a processor more still keeps another lane busy half of the time.
        let paid = quotas.min().map { Int($0.rounded(.up)) } ?? affinity
        return max(1, min(affinity, paid))
    }

    /// Version 2: `200000 100000`, or `max 100000` for none.
    private static func quota(_ text: String?) -> Double? {
        let words = (text ?? "").split { $0 == " " || $0 == "\n" }
        guard words.count == 2 else { return nil }
        return quota(String(words[0]), of: String(words[1]))
    }

    private static func quota(_ quota: String?, of period: String?) -> Double? {
        func number(_ text: String?) -> Double? { text.flatMap { Double($0.filter { !$0.isWhitespace }) } }
        // Version 1 writes −1 for none.
        guard let quota = number(quota), let period = number(period), quota > 0, period > 0 else { return nil }
        return quota / period
    }
}

/// How much memory this process may have: the least limit of its control groups.
package enum MemoryLimit {
    /// The limit of this process in bytes, as of now; nil = its groups set none.
    package static var bytes: Int64? {
        bytes(groups: WholeFile.text("/proc/self/cgroup") ?? "") { WholeFile.text("/sys/fs/cgroup\($0)") }
    }

    /// - Parameters:
    ///   - groups: `/proc/self/cgroup`.
    ///   - read: a file below `/sys/fs/cgroup`; nil = there is none.
    package static func bytes(groups: String, read: (String) -> String?) -> Int64? {
        ControlGroups.folders(of: "memory", groups).compactMap { folder, isFirst in
            let text = read("\(folder)/\(isFirst ? "memory.limit_in_bytes" : "memory.max")")
            return text.flatMap { Int64($0.filter { !$0.isWhitespace }) }
        }
        // Version 1 writes the largest number of pages for none.
        .filter { $0 > 0 && $0 < 1 << 60 }.min()
    }
}

private enum ControlGroups {
    /// The folders below `/sys/fs/cgroup` of a process's group and of those around it, each with whether it is one of
    /// version 1.
    ///
    /// - Parameter groups: `/proc/self/cgroup`: lines of `hierarchy:controllers:path`.
    static func folders(of controller: Substring, _ groups: String) -> [(path: String, isFirst: Bool)] {
        groups.split(separator: "\n").flatMap { line -> [(path: String, isFirst: Bool)] in
            let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard parts.count == 3 else { return [] }
            if parts[1].isEmpty { return ancestors(parts[2]).map { ($0, false) } }
            guard parts[1].split(separator: ",").contains(controller) else { return [] }
            return ancestors(parts[2]).map { ("/\(parts[1])\($0)", true) }
        }
    }

    private static func ancestors(_ path: Substring) -> [String] {
        let names = path.split(separator: "/")
        return (0...names.count).map { count in names.prefix(count).map { "/\($0)" }.joined() }
    }
}
