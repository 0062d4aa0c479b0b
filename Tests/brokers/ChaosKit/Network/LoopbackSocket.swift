internal import BrokerKit
internal import Foundation

/// A socket inside this machine that never blocks and ends with its owner. No child process gets it.
final class LoopbackSocket: @unchecked Sendable {
    // One thread at a time uses it; only the writing of a pair's end is any thread's.
    let descriptor: Int32
    private(set) var isOpen = true

    private init(taking descriptor: Int32) {
        self.descriptor = descriptor
        var on: Int32 = 1
        // An option of the stated size, alive during the call. Frames are small, and a peer waits for each.
        _ = unsafe setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
    }

    deinit { close() }

    func close() {
        guard isOpen else { return }
        isOpen = false
        _ = Glibc.close(descriptor)
    }

    static func listening(on port: UInt16) throws -> LoopbackSocket {
        guard let socket = make() else { throw ClusterFault(description: "no socket: errno \(errno)") }
        var on: Int32 = 1
        // An option of the stated size, alive during the call: the port may be taken again right after a run.
        _ = unsafe setsockopt(socket.descriptor, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
        // The address is alive during the call.
        let bound = unsafe withAddress(port) { unsafe bind(socket.descriptor, $0, $1) == 0 }
        guard bound, listen(socket.descriptor, 128) == 0 else {
            throw ClusterFault(description: "cannot listen on port \(port): errno \(errno)")
        }
        return socket
    }

    /// A connection under way: it can be written to once it is made.
    static func connecting(to port: UInt16) -> LoopbackSocket? {
        guard let socket = make() else { return nil }
        // The address is alive during the call.
        let made = unsafe withAddress(port) { unsafe connect(socket.descriptor, $0, $1) == 0 }
        return made || errno == EINPROGRESS ? socket : nil
    }

    /// Both ends of a connection inside this process.
    static func pair() throws -> (LoopbackSocket, LoopbackSocket) {
        var ends: [Int32] = [-1, -1]
        // Room for the two descriptors.
        let code = unsafe ends.withUnsafeMutableBufferPointer { unsafe socketpair(AF_UNIX, kind, 0, $0.baseAddress) }
        guard code == 0 else { throw ClusterFault(description: "no socket pair: errno \(errno)") }
        return (LoopbackSocket(taking: ends[0]), LoopbackSocket(taking: ends[1]))
    }

    private static func make() -> LoopbackSocket? {
        let descriptor = socket(AF_INET, kind, 0)
        return descriptor < 0 ? nil : LoopbackSocket(taking: descriptor)
    }

    private static let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)

    private static func withAddress(_ port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Bool) -> Bool {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr = in_addr(s_addr: UInt32(0x7f00_0001).bigEndian)
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        // A socket address of the stated size, alive during the call.
        return unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe body($0, size) }
        }
    }
}

// MARK: - Work

extension LoopbackSocket {
    /// nil = no connection is waiting.
    func accept() -> LoopbackSocket? {
        // Whose it is does not matter: only this machine can reach it.
        let descriptor = Glibc.accept(descriptor, nil, nil)
        guard descriptor >= 0 else { return nil }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        return LoopbackSocket(taking: descriptor)
    }

    /// - Returns: how many bytes; 0 = none now, nil = the peer has closed.
    func read(into buffer: inout [UInt8]) -> Int? {
        // An array's own bytes and their count.
        let count = unsafe buffer.withUnsafeMutableBytes { unsafe recv(descriptor, $0.baseAddress, $0.count, 0) }
        return count == 0 ? nil : Self.transferred(count)
    }

    /// - Returns: as ``read(into:)``.
    func write(_ bytes: [UInt8], from index: Int, most limit: Int) -> Int? {
        let count = min(limit, bytes.count - index)
        guard count > 0 else { return 0 }
        // Bytes of an array that lives on; a closed peer causes no signal.
        let written = unsafe bytes.withUnsafeBytes {
            unsafe send(descriptor, $0.baseAddress?.advanced(by: index), count, Int32(MSG_NOSIGNAL))
        }
        return Self.transferred(written)
    }

    /// Tells the peer that nothing more comes.
    func endWriting() { _ = shutdown(descriptor, Int32(SHUT_WR)) }

    private static func transferred(_ count: Int) -> Int? {
        if count >= 0 { return count }
        return [EAGAIN, EINTR, ENOTCONN, EINPROGRESS].contains(errno) ? 0 : nil
    }
}
