internal import Glibc

/// A file with a key: read only if no other user may read it.
package struct KeyFile {
    /// The largest RSA key allowed has 6,400 bytes in PEM.
    private static let maxBytes = 64 << 10

    package let bytes: [UInt8]
    /// Milliseconds since 1970.
    let modifiedAt: Int64

    /// - Parameters:
    ///   - key: the key's name for the fault: `sealing key k1`.
    ///   - remedies: what to do where it is missing, and where it cannot be opened.
    /// - Throws: where it is missing, not a file, open to others or too large.
    package init(
        _ path: String,
        of key: String,
        remedies: (missing: String, closed: String) = (
            "fix the path, or make keys with attest-worker new-keys", "let the worker's user read it"
        )
    ) throws(ConfigurationFault) {
        func fault(_ problem: String) -> ConfigurationFault { KeyFault.fault(key, path, problem) }
        // The path is copied for the call. Non-blocking: a pipe of this name must not delay the start.
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            throw errno == ENOENT
                ? fault("is missing; \(remedies.missing)")
                : fault("cannot be opened: \(POSIXText.describe(errno)); \(remedies.closed)")
        }
        let file = OpenFile(descriptor, named: path)
        // Asks the opened file itself, so that no other file can take its place between check and reading.
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG
        else { throw fault("is not a regular file") }
        let rights = KeyFileRights(mode: status.st_mode & 0o7777, owner: status.st_uid, group: status.st_gid)
        if let problem = rights.problem(for: .current, path) { throw fault(problem) }
        do throws(CommandFault) { bytes = try file.all(most: Self.maxBytes) } catch {
            throw fault("cannot be read: check the disk, or write it again")
        }
        guard bytes.count <= Self.maxBytes else { throw fault("is larger than any key") }
        modifiedAt = FileStamp.milliseconds(status.st_mtim)
    }
}

/// Faults of keys: one line that names the key, its file and the problem.
package enum KeyFault {
    package static func fault(_ key: String, _ path: String, _ problem: String) -> ConfigurationFault {
        ConfigurationFault("worker.json: \(key): \(path) \(problem).")
    }
}
