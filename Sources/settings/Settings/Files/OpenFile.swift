internal import Glibc

/// A file, or standard input, open for reading. Closed with its last owner; standard input stays open.
@safe final class OpenFile: Sendable {
    private static let chunkBytes = 16 << 10

    let name: String
    private let descriptor: Int32
    /// A regular file's size; nil for pipes, devices and standard input.
    let size: Int?

    /// - Parameter path: a file, or `-` for standard input.
    init(path: String) throws(CommandFault) {
        name = path
        if path == "-" {
            (descriptor, size) = (STDIN_FILENO, nil)
            return
        }
        // The path is copied for the call as a C string.
        descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw CommandFault("cannot read \(path): no such file, or no permission to read it.")
        }
        var status = stat()
        // The call fills the status in.
        let isKnown = unsafe fstat(descriptor, &status) == 0
        size = isKnown && status.st_mode & S_IFMT == S_IFREG ? Int(status.st_size) : nil
    }

    /// - Parameter descriptor: open for reading a regular file; closed by this object.
    init(_ descriptor: Int32, named name: String) {
        (self.descriptor, self.name, size) = (descriptor, name, nil)
    }

    deinit { if descriptor > STDERR_FILENO { close(descriptor) } }

    /// Reads as many bytes as there are, up to the buffer's size; 0 at the end.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws(CommandFault) -> Int {
        while true {
            // The buffer is the caller's, and has this size.
            let count = unsafe Glibc.read(descriptor, buffer.baseAddress, buffer.count)
            if count >= 0 { return count }
            guard errno == EINTR else { throw CommandFault("cannot read \(name): \(POSIXText.describe(errno)).") }
        }
    }

    /// Bytes after `rest`, in an array with room for `capacity` in all; as long as `rest` at the end.
    func read(after rest: ArraySlice<UInt8>, capacity: Int) throws(CommandFault) -> [UInt8] {
        var outcome: Result<Int, CommandFault> = .success(0)
        // The rest is copied, then at most as many bytes are read as there is room for.
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: capacity) { target, filled in
            _ = unsafe target.update(fromContentsOf: rest)
            outcome = Result { () throws(CommandFault) in
                let room = unsafe UnsafeMutableRawBufferPointer(
                    rebasing: UnsafeMutableRawBufferPointer(target)[rest.count...]
                )
                return try unsafe read(into: room)
            }
            filled = rest.count + ((try? outcome.get()) ?? 0)
        }
        _ = try outcome.get()
        return bytes
    }

    /// All bytes, of a longer file one more than `most`.
    func all(most: Int) throws(CommandFault) -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count <= most {
            let wanted = max(Self.chunkBytes, 2 * bytes.count, (size ?? 0) + 1)
            let longer = try read(after: bytes[...], capacity: min(wanted, most + 1))
            if longer.count == bytes.count { break }
            bytes = longer
        }
        return bytes
    }

    /// The first bytes, fewer only where the file has no more.
    func head(_ count: Int) throws(CommandFault) -> [UInt8] { try all(most: count - 1) }
}

package enum WholeFile {
    /// - Parameters:
    ///   - path: a file, or `-` for standard input.
    ///   - most: of a file with more bytes, one more than this is returned.
    package static func read(_ path: String, most: Int) throws(CommandFault) -> [UInt8] {
        try OpenFile(path: path).all(most: most)
    }

    /// A file of the kernel, which is text; nil where it cannot be read.
    package static func text(_ path: String, most: Int = 64 << 10) -> String? {
        (try? read(path, most: most)).map { String(decoding: $0, as: UTF8.self) }
    }
}
