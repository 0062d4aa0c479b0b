internal import Foundation

/// A client's end of a TCP connection on this machine.
final class Loopback {
    private let descriptor: Int32

    /// - Parameter source: the last byte of the client's own address, 127.0.0.x.
    init(port: UInt16, source: UInt8) {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        insist(descriptor >= 0, "a descriptor is left")
        // A connection that ends here first leaves no number taken behind it.
        set(SOL_SOCKET, SO_LINGER, linger(l_onoff: 1, l_linger: 0))
        set(SOL_SOCKET, SO_RCVTIMEO, timeval(tv_sec: Self.mostSeconds, tv_usec: 0))
        set(Int32(IPPROTO_TCP), TCP_NODELAY, Int32(1))
        // The kernel chooses a port at the connect, of all that are free there.
        set(Int32(IPPROTO_IP), Int32(IP_BIND_ADDRESS_NO_PORT), Int32(1))
        // The address outlives the call.
        let isBound = unsafe Self.withAddress(last: source, port: 0) { unsafe bind(descriptor, $0, $1) }
        let isConnected = unsafe Self.withAddress(last: 1, port: port) { unsafe connect(descriptor, $0, $1) }
        insist(isBound == 0 && isConnected == 0, "the server takes a connection (errno \(errno))")
    }

    deinit { close(descriptor) }

    /// Of silence, after which a connection is neither answered nor ended.
    private static let mostSeconds = 8

    private func set<Value: BitwiseCopyable>(_ level: Int32, _ option: Int32, _ value: Value) {
        var value = value
        // The option's own structure.
        let code = unsafe setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Value>.size))
        insist(code == 0, "the option is known")
    }

    private static func withAddress(
        last: UInt8,
        port: UInt16,
        _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = (UInt32(0x7F00_0000) | UInt32(last)).bigEndian
        // The same bytes under the name that the call takes.
        return unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                unsafe body(pointer, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    /// What the server no longer takes is dropped.
    func write(_ bytes: ArraySlice<UInt8>) {
        var rest = bytes
        while !rest.isEmpty {
            // The bytes outlive the call.
            let count = unsafe rest.withUnsafeBytes { bytes in
                unsafe send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    /// Ends the sending side.
    func finish() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Some bytes; empty = the server has ended the connection. Traps where neither comes.
    func read() -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 16_384)
        // At most the array's size is written.
        let count = unsafe recv(descriptor, &bytes, bytes.count, 0)
        if count < 0 {
            insist(errno == ECONNRESET || errno == EPIPE, "a connection ends or is answered (errno \(errno))")
            return []
        }
        return Array(bytes[..<count])
    }

    func readAll() -> [UInt8] {
        var all: [UInt8] = []
        while true {
            let some = read()
            if some.isEmpty { return all }
            all += some
        }
    }
}
