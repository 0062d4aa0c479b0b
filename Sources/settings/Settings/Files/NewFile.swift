internal import Glibc

/// Files that are written completely or not at all.
package enum NewFile {
    /// Makes a file that only its owner may read.
    ///
    /// - Throws: ``CommandFault``, also where a file of that name exists: none is ever overwritten.
    package static func create(_ path: String, _ bytes: [UInt8], mode: UInt32 = 0o600) throws(CommandFault) {
        // The path is copied for the call.
        let file = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode_t(mode))
        guard file >= 0 else {
            throw errno == EEXIST
                ? CommandFault("\(path) already exists and is not overwritten.")
                : CommandFault("cannot create \(path): \(POSIXText.describe(errno)).")
        }
        do throws(WriteFault) {
            defer { close(file) }
            // Sets the mode whatever the process's umask removes or a folder's default adds.
            guard fchmod(file, mode_t(mode)) == 0 else { throw WriteFault(code: errno) }
            try Descriptor.write(bytes, to: file)
            // A full disk may show only here.
            guard fsync(file) == 0 else { throw WriteFault(code: errno) }
        } catch {
            // The path is copied for the call; half a key is useless.
            _ = unsafe unlink(path)
            throw CommandFault("cannot write \(path): \(POSIXText.describe(error.code)).")
        }
    }

    /// Replaces a file at once: a reader sees the old bytes or the new ones.
    ///
    /// - Parameter mode: for a new file; an existing one keeps its mode, owner and group. A link's target is replaced.
    package static func replace(_ path: String, _ bytes: [UInt8], mode: UInt32 = 0o644) throws(CommandFault) {
        let target = LinkTarget.of(path)
        var status = stat()
        // The path is copied for the call, which fills the status in.
        let isThere = unsafe stat(target, &status) == 0
        let temporary = "\(target).\(getpid()).new"
        // A process of the same number, as the first one of a container is, may have ended before it renamed its own.
        _ = unsafe unlink(temporary)
        try create(temporary, bytes, mode: isThere ? UInt32(status.st_mode & 0o777) : mode)
        // The paths are copied for the calls. Only root can give a file away, and others write none but their own.
        if isThere { _ = unsafe chown(temporary, status.st_uid, status.st_gid) }
        guard unsafe rename(temporary, target) == 0 else {
            let code = errno
            _ = unsafe unlink(temporary)
            throw CommandFault("cannot write \(path): \(POSIXText.describe(code)).")
        }
    }
}

package enum LinkTarget {
    /// The path without links; as it is where there is no such file.
    package static func of(_ path: String) -> String {
        // The path is copied for the call; the answer is copied and freed.
        guard let real = unsafe realpath(path, nil) else { return path }
        defer { unsafe free(real) }
        return unsafe String(cString: real)
    }
}
