internal import Glibc

/// The process's limit of open files.
enum OpenFiles {
    /// The descriptors for files and for what libraries open.
    private static let others = 64

    /// Raises the soft limit as far as needed and possible.
    ///
    /// - Returns: how many connections fit, at most as many as wanted.
    static func raise(for connections: Int) -> Int {
        var limit = rlimit()
        let files = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        // The structure is ours.
        guard unsafe getrlimit(files, &limit) == 0 else { return connections }
        let needed = rlim_t(connections + others)
        if limit.rlim_cur < needed {
            limit.rlim_cur = min(needed, limit.rlim_max)
            _ = unsafe setrlimit(files, &limit)
            guard unsafe getrlimit(files, &limit) == 0 else { return connections }
        }
        return max(1, min(connections, Int(min(limit.rlim_cur, needed)) - others))
    }
}
