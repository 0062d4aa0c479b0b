internal import Glibc

/// A large file of a program's own, which is read and written piece by piece, and replaced at once.
package final class StateFile {
    private let path: String
    private var file: Int32

    /// Begins a new version, for this user alone; the present one stays until ``finish()``.
    package init(replacing path: String) throws(CommandFault) {
        self.path = path
        // The path is copied for the call. What a killed process has left is written over.
        file = unsafe open(Self.fresh(path), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw Self.fault("create", path) }
    }

    deinit {
        guard file >= 0 else { return }
        close(file)
        // The path is copied for the call: half a file is useless.
        _ = unsafe unlink(Self.fresh(path))
    }

    private static func fresh(_ path: String) -> String { path + ".new" }

    private static func fault(_ verb: String, _ path: String, _ code: Int32 = errno) -> CommandFault {
        CommandFault("cannot \(verb) \(path): \(POSIXText.describe(code)).")
    }

    package func write(_ bytes: [UInt8]) throws(CommandFault) {
        do throws(WriteFault) { try Descriptor.write(bytes, to: file) } catch {
            throw Self.fault("write", path, error.code)
        }
    }

    /// Puts the new version, which is on the disk then, in the place of the old one.
    package func finish() throws(CommandFault) {
        guard fsync(file) == 0 else { throw Self.fault("write", path) }
        // The paths are copied for the call.
        guard unsafe rename(Self.fresh(path), path) == 0 else { throw Self.fault("write", path) }
        close(file)
        file = -1
        // The paths are copied for the call. The name, too, must outlive a loss of power.
        let folder = unsafe open(Folder.around(path), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { return }
        fsync(folder)
        close(folder)
    }

    package static func remove(_ path: String) {
        // The path is copied for the call.
        _ = unsafe unlink(path)
    }

    /// Reads a file from its beginning: so many bytes with each call, fewer only at its end.
    ///
    /// - Returns: nil where there is none that can be read.
    package static func reader(_ path: String) -> (read: (Int) throws(CommandFault) -> [UInt8], size: Int)? {
        guard let file = try? OpenFile(path: path), let size = file.size else { return nil }
        let read = { (count: Int) throws(CommandFault) -> [UInt8] in
            var bytes: [UInt8] = []
            while bytes.count < count {
                let longer = try file.read(after: bytes[...], capacity: count)
                if longer.count == bytes.count { break }
                bytes = longer
            }
            return bytes
        }
        return (read, size)
    }
}
