internal import Glibc

/// Shows whether a file has changed: its place, size, times and rights.
package struct FileStamp: Equatable, Sendable {
    private let device: UInt64
    private let inode: UInt64
    private let size: Int64
    private let modified: [Int]
    /// Covers rights too: a change of mode moves this time.
    private let changed: [Int]

    /// - Returns: nil where there is no such file.
    package init?(_ path: String) {
        var status = stat()
        // The path is copied for the call, which fills the status in.
        guard unsafe stat(path, &status) == 0 else { return nil }
        device = UInt64(status.st_dev)
        inode = UInt64(status.st_ino)
        size = Int64(status.st_size)
        modified = [status.st_mtim.tv_sec, status.st_mtim.tv_nsec]
        changed = [status.st_ctim.tv_sec, status.st_ctim.tv_nsec]
    }

    /// The stamps by path; a missing file has no entry.
    package static func all(_ paths: Set<String>) -> [String: FileStamp] {
        var stamps: [String: FileStamp] = [:]
        for path in paths { stamps[path] = FileStamp(path) }
        return stamps
    }

    /// Whether both are the same file, whatever the path.
    package func isSameFile(as other: FileStamp) -> Bool { device == other.device && inode == other.inode }

    /// Milliseconds since 1970.
    static func milliseconds(_ time: timespec) -> Int64 { Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000 }
}
