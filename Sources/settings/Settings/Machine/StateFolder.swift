internal import Glibc

/// A folder of one instance that outlives its process, held by one process at a time.
package struct StateFolder {
    package let path: String

    /// Takes `$STATE_DIRECTORY` (as systemd sets it) if it is set, else the first writable one of `state` next to the
    /// configuration and a folder of this user under `$TMPDIR`.
    ///
    /// - Parameter identity: unique to the instance.
    /// - Throws: a ``StateFolderFault`` that says what to do.
    package init(
        configuration: String,
        identity: String,
        environment: [String: String] = Variables.values("STATE_DIRECTORY", "TMPDIR")
    ) throws(StateFolderFault) {
        let given = environment["STATE_DIRECTORY"]?.split(separator: ":").first.map(String.init)
        let temporary = environment["TMPDIR"].flatMap { $0.isEmpty ? nil : $0 } ?? "/tmp"
        let places =
            given.map { [$0] } ?? [configuration + "/state", temporary + "/attest-worker-\(geteuid())"]
        for place in places where Self.isOwn(place) {
            let path = place + "/" + identity
            guard Self.isOwn(path), unsafe access(path, W_OK | X_OK) == 0 else { continue }
            guard Self.lock(path) else {
                throw StateFolderFault(
                    description: "\(path) is in use by another process: give every instance a name of its own"
                )
            }
            self.path = path
            return
        }
        throw StateFolderFault(
            description:
                "no folder for crash records can be written (\(places.joined(separator: ", "))): a request that "
                + "crashes the worker will crash it again after every restart; set STATE_DIRECTORY to a folder of its own"
        )
    }

    /// Makes the folder where it is missing. An existing one must be neither a link nor world-writable, and must be
    /// this user's or root's: another user may have put it there.
    private static func isOwn(_ path: String) -> Bool {
        // The paths are lent for the calls.
        if unsafe mkdir(path, 0o700) == 0 { return true }
        var status = stat()
        guard errno == EEXIST, unsafe lstat(path, &status) == 0 else { return false }
        return status.st_mode & S_IFMT == S_IFDIR && (status.st_uid == geteuid() || status.st_uid == 0)
            && status.st_mode & S_IWOTH == 0
    }

    /// Locks the folder until the process ends.
    private static func lock(_ path: String) -> Bool {
        let folder = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        return folder >= 0 && flock(folder, LOCK_EX | LOCK_NB) == 0
    }
}

package struct StateFolderFault: Error, CustomStringConvertible {
    package let description: String
}
