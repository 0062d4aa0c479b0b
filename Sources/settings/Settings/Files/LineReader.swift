internal import Compression
internal import Glibc

/// Reads a file line by line through large chunks. Lines may be of any length up to a limit, and hold any bytes.
///
/// A gzip or zstd file is recognised by its first bytes, and read as what was compressed. A byte order mark before the
/// first line is not part of it.
@safe package final class LineReader {
    private static let chunkBytes = 256 << 10
    /// Longer than any record that a broker accepts, escaped.
    package static let maxLineBytes = 64 << 20

    private let file: OpenFile
    private var source = Source.unknown
    /// The bytes read last, after the unfinished line of the chunk before.
    package private(set) var chunk: [UInt8] = []
    private var start = 0
    private var atEnd = false
    /// Whether the last line given has no newline: it may have been cut off.
    package private(set) var isCut = false
    /// Lines given so far.
    package private(set) var lineNumber = 0
    /// Bytes of the file that lie in chunks, and how many of them a chunk's byte stands for.
    private var bytesRead = 0
    private var fileBytesPerByte = 1.0
    package var name: String { file.name }
    /// The file's size, where it has one.
    package var totalBytes: Int? { file.size }

    private enum Source {
        /// Nothing was read yet.
        case unknown
        case plain
        case compressed(ReadAhead)
    }

    /// - Parameter path: a file, or `-` for standard input.
    package init(path: String) throws(CommandFault) { file = try OpenFile(path: path) }

    /// Bytes of the file after the last line given; compressed ones, where it is compressed.
    package var bytesConsumed: Int { bytesRead - Int(Double(chunk.count - start) * fileBytesPerByte) }

    /// The next line without its newline; nil at the end. Empty lines are skipped.
    package func next() throws(CommandFault) -> [UInt8]? {
        guard let range = try nextRange() else { return nil }
        return Array(chunk[range])
    }

    /// The next line's range in ``chunk``, without its newline; nil at the end. Empty lines are skipped.
    package func nextRange() throws(CommandFault) -> Range<Int>? {
        while true {
            if let end = endOfLine() {
                lineNumber += 1
                let line = withoutMark(start..<end)
                start = end + 1
                if !line.isEmpty { return line }
                continue
            }
            if atEnd {
                if start == chunk.count { return nil }
                lineNumber += 1
                isCut = true
                let rest = withoutMark(start..<chunk.count)
                start = chunk.count
                return rest.isEmpty ? nil : rest
            }
            try fill()
        }
    }

    private func withoutMark(_ line: Range<Int>) -> Range<Int> {
        guard lineNumber == 1, chunk[line].starts(with: [0xEF, 0xBB, 0xBF]) else { return line }
        return line.dropFirst(3)
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
            throw CommandFault("\(file.name): line \(lineNumber + 1) is longer than \(Self.maxLineBytes) bytes.")
        }
        switch source {
        case .unknown: try open()
        case .plain:
            chunk = try file.read(after: chunk[start...], capacity: max(Self.chunkBytes, 2 * rest))
            start = 0
            assert(chunk.count >= rest, "an unfinished line is kept")
            atEnd = chunk.count == rest
            bytesRead += chunk.count - rest
        case .compressed(let blocks): try fill(blocks)
        }
    }

    /// Looks at the first bytes, which become the first chunk of a plain file.
    private func open() throws(CommandFault) {
        let head = try file.head(CompressionFormat.magicBytes)
        guard let format = CompressionFormat(recognising: head) else {
            (chunk, bytesRead, source) = (head, head.count, .plain)
            return
        }
        do throws(CompressedInput.Fault) {
            source = .compressed(ReadAhead(try CompressedInput(file, head: head, format)))
        } catch { throw located(error) }
    }

    /// Takes blocks until the unfinished line is about twice as long, so that a long one is not copied too often.
    private func fill(_ blocks: ReadAhead) throws(CommandFault) {
        let rest = chunk.count - start
        var fresh = Array(chunk[start...])
        let before = bytesRead
        do throws(CompressedInput.Fault) {
            repeat {
                let block = try blocks.next()
                atEnd = block.bytes.isEmpty
                if fresh.isEmpty { fresh = block.bytes } else { fresh += block.bytes }
                bytesRead = block.position
            } while !atEnd && rest > Self.chunkBytes && fresh.count < 2 * rest
        } catch { throw located(error) }
        assert(fresh.count >= rest && bytesRead >= before, "an unfinished line is kept")
        if fresh.count > rest { fileBytesPerByte = Double(bytesRead - before) / Double(fresh.count - rest) }
        (chunk, start) = (fresh, 0)
    }

    private func located(_ fault: CompressedInput.Fault) -> CommandFault {
        fault.whole ?? CommandFault("cannot read \(file.name) beyond line \(lineNumber): \(fault.reason).")
    }
}
