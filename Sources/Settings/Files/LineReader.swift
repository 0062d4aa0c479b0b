internal import Foundation

/// Reads a file line by line through large chunks. Lines may be of any length up to a limit, and hold any bytes.
@safe package final class LineReader {
    private static let chunkBytes = 256 << 10
    /// Longer than any record that a broker accepts, escaped.
    private static let maxLineBytes = 64 << 20

    private let file: Int32
    private let name: String
    /// The bytes read last, after the unfinished line of the chunk before.
    package private(set) var chunk: [UInt8] = []
    private var start = 0
    private var atEnd = false
    /// Whether the last line given has no newline: it may have been cut off.
    package private(set) var isCut = false
    /// Lines given so far.
    package private(set) var lineNumber = 0
    /// Bytes read so far.
    package private(set) var bytesRead = 0
    /// The file's size, where it has one.
    package let totalBytes: Int?

    /// - Parameter path: a file, or `-` for standard input.
    package init(path: String) throws(CommandFault) {
        name = path
        if path == "-" {
            file = STDIN_FILENO
            totalBytes = nil
            return
        }
        // The path is copied for the call as a C string.
        file = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else {
            throw CommandFault("cannot read \(path): no such file, or no permission to read it.")
        }
        totalBytes = (try? FileManager.default.attributesOfItem(atPath: path))?[.size] as? Int
    }

    deinit { if file != STDIN_FILENO { close(file) } }

    /// The next line without its newline; nil at the end. Empty lines are skipped.
    package func next() throws(CommandFault) -> [UInt8]? {
        guard let range = try nextRange() else { return nil }
        return Array(chunk[range])
    }

    /// The next line's range in ``chunk``, without its newline; nil at the end. Empty lines are skipped.
    package func nextRange() throws(CommandFault) -> Range<Int>? {
        while true {
            if let end = endOfLine() {
                let line = start..<end
                start = end + 1
                lineNumber += 1
                if !line.isEmpty { return line }
                continue
            }
            if atEnd {
                let rest = start..<chunk.count
                start = chunk.count
                if rest.isEmpty { return nil }
                lineNumber += 1
                isCut = true
                return rest
            }
            try fill()
        }
    }

    private func endOfLine() -> Int? {
        // memchr looks at the bytes from `start` to the chunk's end only.
        unsafe chunk.withUnsafeBytes { bytes in
            guard start < bytes.count, let base = bytes.baseAddress else { return nil }
            guard let found = unsafe memchr(base + start, 0x0A, bytes.count - start) else { return nil }
            return unsafe UnsafeRawPointer(found) - base
        }
    }

    /// Starts a new chunk with the rest of the last one: lines that are still in use keep the old chunk alive.
    private func fill() throws(CommandFault) {
        let rest = chunk.count - start
        guard rest < Self.maxLineBytes else {
            throw CommandFault("\(name): line \(lineNumber + 1) is longer than \(Self.maxLineBytes) bytes.")
        }
        var count = 0
        var code: Int32 = 0
        let capacity = max(Self.chunkBytes, 2 * rest)
        // The rest of the old chunk is copied, then at most as many bytes are read as there is room for.
        let fresh = unsafe [UInt8](unsafeUninitializedCapacity: capacity) { target, filled in
            _ = unsafe target.update(fromContentsOf: chunk[start...])
            repeat {
                count = unsafe read(file, target.baseAddress?.advanced(by: rest), capacity - rest)
                code = errno
            } while count < 0 && code == EINTR
            filled = rest + max(0, count)
        }
        guard count >= 0 else { throw CommandFault("cannot read \(name): \(POSIXText.describe(code)).") }
        (chunk, start) = (fresh, 0)
        atEnd = count == 0
        bytesRead += count
    }
}
