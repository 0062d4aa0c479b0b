internal import BrokerKit
internal import Foundation

/// A TCP socket on 127.0.0.1 that never blocks and ends with its owner. No child process gets it.
final class LoopbackSocket {
    enum Transfer: Equatable {
        case bytes(Int)
        case wouldBlock
        case ended
    }

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

    private static func make() -> LoopbackSocket? {
        let kind = Int32(SOCK_STREAM.rawValue) | nonBlocking
        let descriptor = socket(AF_INET, kind, 0)
        return descriptor < 0 ? nil : LoopbackSocket(taking: descriptor)
    }

    private static let nonBlocking = Int32(SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)

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

    func read(into buffer: inout [UInt8]) -> Transfer {
        // An array's own bytes and their count.
        let count = unsafe buffer.withUnsafeMutableBytes { unsafe recv(descriptor, $0.baseAddress, $0.count, 0) }
        return Self.transfer(count)
    }

    func write(_ bytes: [UInt8], from index: Int, most limit: Int) -> Transfer {
        let count = min(limit, bytes.count - index)
        guard count > 0 else { return .bytes(0) }
        // Bytes of an array that lives on; a closed peer causes no signal.
        let written = unsafe bytes.withUnsafeBytes {
            unsafe send(descriptor, $0.baseAddress?.advanced(by: index), count, Int32(MSG_NOSIGNAL))
        }
        return Self.transfer(written, endsAtZero: false)
    }

    /// Tells the peer that nothing more comes.
    func endWriting() { _ = shutdown(descriptor, Int32(SHUT_WR)) }

    private static func transfer(_ count: Int, endsAtZero: Bool = true) -> Transfer {
        if count > 0 { return .bytes(count) }
        if count == 0 { return endsAtZero ? .ended : .wouldBlock }
        return [EAGAIN, EINTR, ENOTCONN, EINPROGRESS].contains(errno) ? .wouldBlock : .ended
    }
}
