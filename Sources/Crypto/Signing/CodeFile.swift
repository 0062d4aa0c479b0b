internal import Glibc

/// A file of code that may run beside the signing keys: only root and this process's own user can change it, or the way
/// to it.
enum CodeFile {
    /// Opens the file that was judged: what is loaded by the descriptor is that one, whatever the path names then.
    ///
    /// Links are followed once, at the beginning: Debian's libraries have them, and what they name is judged.
    ///
    /// - Parameter trusted: a folder that is not judged, nor what is above it; nil = all are.
    static func open(_ path: String, below trusted: String?) throws(MultiBufferFault) -> Int32 {
        guard path.hasPrefix("/") else { throw .notAbsolute }
        guard let path = realPath(path) else { throw .missing }
        let folders = try judgedFolders(path, below: trusted.flatMap(realPath))
        // The path is copied for the call. Neither a link nor a FIFO without a writer holds it up.
        let file = unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard file >= 0 else { throw .missing }
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
            // A link that came in the meantime can be written by all.
            do throws(MultiBufferFault) { try judge(status, folder) } catch { found = found ?? error }
        }
        return found
    }

    private static func judge(_ status: stat, _ folder: String?) throws(MultiBufferFault) {
        guard status.st_uid == 0 || status.st_uid == geteuid() else {
            throw .foreign(folder: folder, owner: status.st_uid)
        }
        let mode = UInt32(status.st_mode) & 0o777
        // Whoever is in root's group is trusted; in Debian's staff, which may write /usr/local/lib, nobody is.
        let others: UInt32 = status.st_gid == 0 ? 0o002 : 0o022
        guard mode & others == 0 else { throw folder.map { .writableFolder($0, mode: mode) } ?? .writable(mode: mode) }
    }

    /// The path without links; nil where it names nothing.
    private static func realPath(_ path: String) -> String? {
        // The text is copied, then freed.
        let real = unsafe realpath(path, nil)
        defer { unsafe free(real) }
        return unsafe real.map { unsafe String(cString: $0) }
    }
}
