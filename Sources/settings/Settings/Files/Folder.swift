internal import Glibc

package enum Folder {
    /// Makes a folder and those around it, where they are missing.
    ///
    /// - Parameter mode: of the folder itself; the process's umask may narrow it.
    package static func make(_ path: String, mode: UInt32 = 0o777) throws(CommandFault) {
        // Both paths are copied for the calls.
        if unsafe mkdir(path, mode_t(mode)) == 0 { return }
        let code = errno
        if code == ENOENT, let parent = parent(of: path) {
            try make(parent)
            if unsafe mkdir(path, mode_t(mode)) == 0 { return }
        }
        guard exists(path) else { throw CommandFault("cannot create \(path): \(POSIXText.describe(code)).") }
    }

    /// The names in a folder, in no order; none where it cannot be read.
    package static func names(in path: String) -> [String] {
        // The path is copied for the call; the stream is closed at the end and used by this thread alone.
        guard let stream = unsafe opendir(path) else { return [] }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        while let entry = unsafe readdir(stream), let place = MemoryLayout<dirent>.offset(of: \.d_name) {
            // The name ends with a zero, and is copied before the next call.
            let name = unsafe String(
                cString: UnsafeRawPointer(entry).advanced(by: place).assumingMemoryBound(to: CChar.self)
            )
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    /// Removes a folder with all that lies in it, as far as this user may.
    package static func remove(_ path: String) {
        for name in names(in: path) {
            let inner = "\(path)/\(name)"
            // The path is copied for the calls, which fill the status in. Links are removed, not followed.
            var status = stat()
            guard unsafe lstat(inner, &status) == 0 else { continue }
            if status.st_mode & S_IFMT == S_IFDIR { remove(inner) } else { _ = unsafe unlink(inner) }
        }
        _ = unsafe rmdir(path)
    }

    package static func removeEmpty(_ path: String) {
        // The path is copied for the call.
        _ = unsafe rmdir(path)
    }

    /// The folder for files that do not outlive their process.
    package static var temporary: String { Variables.value("TMPDIR").flatMap { $0.isEmpty ? nil : $0 } ?? "/tmp" }

    /// The folder for what is put aside while a file is made: its own, but for a device or a pipe.
    package static func scratch(for path: String) -> String {
        var status = stat()
        // The path is copied for the call, which fills the status in.
        let isOther = unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT != S_IFREG
        return isOther ? temporary : around(path)
    }

    /// The folder that a file is in.
    package static func around(_ path: String) -> String {
        parent(of: LinkTarget.of(path)) ?? (path.hasPrefix("/") ? "/" : ".")
    }

    /// A new folder with a name of its own, for this user alone.
    ///
    /// - Parameter name: the beginning of its name.
    package static func makeTemporary(_ name: String) throws(CommandFault) -> String {
        let place = temporary
        var path = Array(("\(place)/\(name)-" + String(repeating: "X", count: 6)).utf8CString)
        // The call writes six letters into the array.
        guard unsafe mkdtemp(&path) != nil else {
            throw CommandFault("cannot create a folder in \(place): \(POSIXText.describe(errno)).")
        }
        return String(decoding: path.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    package static func exists(_ path: String) -> Bool {
        var status = stat()
        // The path is copied for the call, which fills the status in.
        return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    private static func parent(of path: String) -> String? {
        let names = path.split(separator: "/")
        guard names.count > 1 else { return nil }
        return (path.hasPrefix("/") ? "/" : "") + names.dropLast().joined(separator: "/")
    }
}
