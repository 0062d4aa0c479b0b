internal import Foundation

/// Raw bytes to a server on loopback, from an address of its own, by which the handler's side knows it.
package final class HostileClient {
    private let descriptor: Int32

    /// nil = the server does not accept.
    package init?(port: UInt16, from source: [UInt8]) {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return nil }
        var timeout = timeval(tv_sec: Self.timeoutSeconds, tv_usec: 0)
        // The value outlives the call.
        _ = unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        _ = unsafe setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        var yes: Int32 = 1
        // Each write is a segment of its own.
        _ = unsafe setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
        let server: [UInt8] = [127, 0, 0, 1]
        let isConnected =
            unsafe Self.with(source, 0) { unsafe bind(descriptor, $0, $1) } == 0
            && Self.with(server, port) { unsafe connect(descriptor, $0, $1) } == 0
        if !isConnected { return nil }
    }

    deinit { close(descriptor) }

    private static let timeoutSeconds = 8

    private static func with(
        _ address: [UInt8],
        _ port: UInt16,
        _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        var socket = sockaddr_in()
        socket.sin_family = sa_family_t(AF_INET)
        socket.sin_port = port.bigEndian
        socket.sin_addr.s_addr = address.reversed().reduce(0) { $0 << 8 | UInt32($1) }
        // The same bytes under the name that the calls take.
        return unsafe withUnsafePointer(to: &socket) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    package func write(_ bytes: ArraySlice<UInt8>) {
        var rest = bytes
        while !rest.isEmpty {
            // The bytes outlive the call.
            let count = unsafe rest.withUnsafeBytes {
                unsafe send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    package func finishWriting() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// The next close sends a reset.
    package func abortAtEnd() {
        var setting = linger(l_onoff: 1, l_linger: 0)
        // The value outlives the call.
        _ = unsafe setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &setting, socklen_t(MemoryLayout<linger>.size))
    }

    package enum End { case closed, reset, silent }

    /// All that comes until `isEnough`, or up to the connection's end.
    package func read(until isEnough: ([UInt8]) -> Bool = { _ in false }) -> (bytes: [UInt8], end: End?) {
        var all: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16_384)
        while !isEnough(all) {
            // At most the array's size is written.
            let count = unsafe recv(descriptor, &chunk, chunk.count, 0)
            if count == 0 { return (all, .closed) }
            guard count > 0 else { return (all, errno == ECONNRESET || errno == EPIPE ? .reset : .silent) }
            all += chunk[..<count]
        }
        return (all, nil)
    }

    /// Whether a sound request is answered.
    package func isServed() -> Bool {
        write(Array("GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n".utf8)[...])
        return read { $0.last == UInt8(ascii: "}") }.bytes.starts(with: "HTTP/1.1 200 ".utf8)
    }
}
