internal import Glibc

/// A file of code that may run beside the signing keys: only root and this process's own user can change it, or the way
/// to it.
enum CodeFile {
    /// Opens the file that was judged: what is loaded by the descriptor is that one, whatever the path names then.
    ///
    /// - Parameter trusted: a folder that is not judged, nor what is above it; nil = all are.
    static func open(_ path: String, below trusted: String?) throws(MultiBufferFault) -> Int32 {
        guard path.hasPrefix("/") else { throw .notAbsolute }
        let folders = try judgedFolders(path, below: trusted)
        // The path is copied for the call. Neither a link nor a FIFO without a writer holds it up.
        let file = unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard file >= 0 else { throw errno == ELOOP ? link(path, in: path) : .missing }
        do throws(MultiBufferFault) {
            var status = stat()
            // The call fills the status in.
            guard unsafe fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { throw .notRegular }
            try judge(status, nil)
            if let folders { throw folders }
        } catch {
            close(file)
            throw error
        }
        return file
    }

    /// From the root down: once a folder is judged, nobody else can exchange what is in it.
    ///
    /// - Returns: the first fault of a right, which the file's own go before.
    private static func judgedFolders(
        _ path: String,
        below trusted: String?
    ) throws(MultiBufferFault) -> MultiBufferFault? {
        var found: MultiBufferFault?
        for end in path.indices where path[end] == "/" {
            let folder = end == path.startIndex ? "/" : String(path[..<end])
            if let trusted, trusted == folder || trusted.hasPrefix(folder == "/" ? "/" : folder + "/") { continue }
            var status = stat()
            // As above.
            guard unsafe lstat(folder, &status) == 0 else { throw .missing }
            if status.st_mode & S_IFMT == S_IFLNK { throw link(folder, in: path) }
            do throws(MultiBufferFault) { try judge(status, folder) } catch { found = found ?? error }
        }
        return found
    }

    private static func judge(_ status: stat, _ folder: String?) throws(MultiBufferFault) {
        guard status.st_uid == 0 || status.st_uid == geteuid() else {
            throw .foreign(folder: folder, owner: status.st_uid)
        }
        let mode = UInt32(status.st_mode) & 0o777
        guard mode & 0o022 == 0 else { throw folder.map { .writableFolder($0, mode: mode) } ?? .writable(mode: mode) }
    }

    private static func link(_ place: String, in path: String) -> MultiBufferFault {
        // The text is copied, then freed.
        let real = unsafe realpath(path, nil)
        defer { unsafe free(real) }
        return .link(place, file: unsafe real.map { unsafe String(cString: $0) })
    }
}
