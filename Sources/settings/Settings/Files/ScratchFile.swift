internal import Glibc

/// Bytes that a command puts aside and reads again: in memory while they are few, else in a file without a name, which
/// only its owner can read and which ends with the process.
package final class ScratchFile {
    private let folder: String
    private let memoryBytes: Int
    private var file: Int32 = -1
    /// The bytes that are not in the file yet.
    private var pending: [UInt8] = []
    private var written = 0

    /// - Parameters:
    ///   - folder: has room for the bytes.
    ///   - memoryBytes: that are kept in memory at most.
    package init(folder: String, memoryBytes: Int = 64 << 20) {
        (self.folder, self.memoryBytes) = (folder, memoryBytes)
    }

    deinit { if file >= 0 { close(file) } }

    package var count: Int { written + pending.count }

    package func append(_ bytes: [UInt8]) throws(CommandFault) {
        pending += bytes
        if pending.count > memoryBytes { try flush() }
    }

    private func flush() throws(CommandFault) {
        if file < 0 { file = try open() }
        do throws(WriteFault) { try Descriptor.write(pending, to: file) } catch {
            throw CommandFault("cannot write to a file in \(folder): \(POSIXText.describe(error.code)).")
        }
        written += pending.count
        pending.removeAll(keepingCapacity: true)
    }

    private func open() throws(CommandFault) -> Int32 {
        var path = Array(("\(folder)/.attest-worker-" + String(repeating: "X", count: 6)).utf8CString)
        // The call writes six letters into the array, and opens the file for this user alone.
        let file = unsafe mkstemp(&path)
        guard file >= 0 else {
            throw CommandFault("cannot create a file in \(folder): \(POSIXText.describe(errno)).")
        }
        _ = fcntl(file, F_SETFD, FD_CLOEXEC)
        // The array is lent for the call. The name goes at once: no other process opens the file.
        _ = unsafe unlink(path)
        return file
    }

    /// - Parameter range: of bytes that were appended.
    package func read(_ range: Range<Int>) throws(CommandFault) -> [UInt8] {
        precondition(range.upperBound <= count, "only what was appended is read")
        guard file >= 0 else { return Array(pending[range]) }
        if !pending.isEmpty { try flush() }
        var (bytes, done) = ([UInt8](repeating: 0, count: range.count), 0)
        while done < bytes.count {
            // The call fills the rest of the array at most.
            let count = unsafe bytes.withUnsafeMutableBytes {
                unsafe pread(file, $0.baseAddress?.advanced(by: done), $0.count - done, off_t(range.lowerBound + done))
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                throw CommandFault("cannot read a file in \(folder): \(POSIXText.describe(count < 0 ? errno : EIO)).")
            }
            done += count
        }
        return bytes
    }
}
