internal import Compression
internal import Glibc
package import Settings

/// A command's output: a regular file, a device, a FIFO, a link's target, or standard output (`-`).
///
/// Devices, FIFOs and what a link points to are written in place; only a regular file is ever replaced. A name that
/// ends in `.gz` or `.zst` asks for compressed bytes.
package final class OutputFile {
    package enum Placement {
        /// Truncated at once and written as output comes.
        case inPlace
        /// A regular file keeps its old bytes until ``close()`` puts the new ones in its place.
        case whole
    }

    package enum Content {
        case plain
        /// Tokens, artifacts, challenges or keys: only the file's owner may read it.
        case secret
    }

    private let path: String
    private var file: Int32
    /// Temporary file of ``Placement/whole`` until it closes, and its target; nil when written in place.
    private let replaced: (temporary: String, target: String)?
    /// nil for plain bytes.
    private let compressor: Compressor?

    /// - Throws: ``CommandFault`` with the system's reason.
    package init(
        _ path: String,
        _ placement: Placement = .inPlace,
        holds content: Content = .plain
    ) throws(CommandFault) {
        self.path = path
        replaced = placement == .whole ? Self.replacement(for: path) : nil
        do throws(CompressionFault) {
            compressor = try CompressionFormat(naming: path).map(Compressor.init)
        } catch { throw CommandFault("cannot write \(path): \(error.reason).") }
        guard path != "-" else {
            file = STDOUT_FILENO
            return
        }
        let mode: mode_t = content == .secret ? 0o600 : 0o644
        let exclusive = replaced == nil ? O_TRUNC : O_EXCL | O_NOFOLLOW
        // The paths are copied for the calls. What a process of the same number left behind is not an obstacle.
        if let replaced { _ = unsafe unlink(replaced.temporary) }
        file = unsafe open(replaced?.temporary ?? path, O_WRONLY | O_CREAT | O_CLOEXEC | exclusive, mode)
        guard file >= 0 else { throw CommandFault("cannot write \(path): \(POSIXText.describe(errno)).") }
        guard content == .plain ? keepsRights() : isPrivate(mode) else {
            throw CommandFault("cannot write \(path): its permissions cannot be set.")
        }
    }

    deinit {
        if file >= 0, file != STDOUT_FILENO { Glibc.close(file) }
        // Half a file is useless; after an orderly close the temporary name is gone. The path is copied for the call.
        if let replaced { _ = unsafe unlink(replaced.temporary) }
    }

    /// - Throws: ``CommandFault``; ``SilentEnd`` where standard output is a pipe without a reader.
    package func write(_ bytes: [UInt8]) throws {
        guard let compressor else { return try put(bytes) }
        try compressor.append(bytes, write: put)
    }

    private func put(_ bytes: [UInt8]) throws {
        do throws(WriteFault) { try Descriptor.write(bytes, to: file) } catch {
            throw try fault(error)
        }
    }

    /// Completes the file. Nothing may be written after it.
    package func close() throws {
        try compressor?.finish(write: put)
        guard file != STDOUT_FILENO else { return }
        let code = Glibc.close(file)
        file = -1
        // A full disk may show only here.
        guard code == 0 else { throw try fault(WriteFault(code: errno)) }
        // Both paths are copied for the calls.
        guard let replaced, unsafe rename(replaced.temporary, replaced.target) != 0 else { return }
        throw CommandFault("cannot write \(path): \(POSIXText.describe(errno)).")
    }

    private func fault(_ fault: WriteFault) throws -> CommandFault {
        if file == STDOUT_FILENO, fault.isBrokenPipe { throw SilentEnd() }
        let place = file == STDOUT_FILENO ? "to standard output" : path
        return CommandFault("cannot write \(place): \(POSIXText.describe(fault.code)).")
    }

    /// A file that replaces another one gets the permissions of the old one.
    private func keepsRights() -> Bool {
        guard let replaced else { return true }
        var status = stat()
        // The path is copied for the call, which fills the status in.
        guard unsafe stat(replaced.target, &status) == 0 else { return true }
        return fchmod(file, status.st_mode & 0o777) == 0
    }

    /// A regular file's rights are narrowed, whatever they were; devices and FIFOs are left to their owner.
    private func isPrivate(_ mode: mode_t) -> Bool {
        var status = stat()
        // The call fills the status in.
        guard unsafe fstat(file, &status) == 0 else { return false }
        guard status.st_mode & S_IFMT == S_IFREG, status.st_mode & 0o077 != 0 else { return true }
        return fchmod(file, mode) == 0
    }

    /// nil for a place that must not be replaced: a device, a FIFO, a link to nothing.
    private static func replacement(for path: String) -> (temporary: String, target: String)? {
        guard path != "-" else { return nil }
        var status = stat()
        // The path is copied for the calls, which fill the status in.
        guard unsafe stat(path, &status) == 0 else {
            return unsafe lstat(path, &status) == 0 ? nil : (temporary(path), path)
        }
        guard status.st_mode & S_IFMT == S_IFREG else { return nil }
        let target = LinkTarget.of(path)
        return (temporary(target), target)
    }

    private static func temporary(_ path: String) -> String { "\(path).\(getpid()).new" }
}

/// The end of a command that says no more: its sentence is in the log already, or standard output's reader has left.
package struct SilentEnd: ExplainedFault {
    package let exitCode: Int32
    package let sentence = ""

    package init(exitCode: Int32 = ExitCode.failed) { self.exitCode = exitCode }
}
