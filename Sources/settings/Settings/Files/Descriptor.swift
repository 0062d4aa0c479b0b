internal import Glibc

/// Why bytes did not arrive.
package struct WriteFault: Error {
    /// The system's error number.
    package let code: Int32
    package var isBrokenPipe: Bool { code == EPIPE }

    package init(code: Int32) { self.code = code }
}

/// Writes to descriptors: files that are open, standard output, standard error.
package enum Descriptor {
    /// Writes all of it, however often the system takes a part.
    package static func write(_ bytes: [UInt8], to file: Int32) throws(WriteFault) {
        var done = 0
        while done < bytes.count {
            // The range lies within the array, which outlives the call.
            let count = unsafe bytes.withUnsafeBytes {
                unsafe Glibc.write(file, $0.baseAddress?.advanced(by: done), $0.count - done)
            }
            if count < 0 {
                guard errno == EINTR || waitForRoom(file) else { throw WriteFault(code: errno) }
                continue
            }
            done += count
        }
    }

    /// A pipe that another process has made non-blocking returns EAGAIN while it is full.
    private static func waitForRoom(_ file: Int32) -> Bool {
        guard errno == EAGAIN else { return false }
        var entry = pollfd(fd: file, events: Int16(POLLOUT), revents: 0)
        // One entry, which the call fills in.
        return unsafe poll(&entry, 1, -1) >= 0 || errno == EINTR
    }
}
