internal import Foundation

/// Raw bytes to a server on loopback, and what it answers.
package final class RawClient: Sendable {
    package let descriptor: Int32

    /// nil = the server does not accept.
    package init?(_ port: UInt16) {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return nil }
        var limit = timeval(tv_sec: 1, tv_usec: 0)
        // The value outlives the call.
        _ = unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        // The same bytes under the name that the call takes.
        let code = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        if code != 0 { return nil }
    }

    deinit { close(descriptor) }

    /// false once the server has closed.
    @discardableResult
    package func write(_ bytes: [UInt8]) -> Bool {
        var sent = 0
        while sent < bytes.count {
            // The bytes outlive the call.
            let count = unsafe bytes[sent...].withUnsafeBytes {
                unsafe send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }

    @discardableResult
    package func write(_ text: String) -> Bool { write(Array(text.utf8)) }

    /// Ends the sending side.
    package func finishWriting() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Some bytes; empty = the server has closed; nil = nothing came for so many seconds.
    package func readSome(seconds: Int = 30) -> [UInt8]? {
        var chunk = [UInt8](repeating: 0, count: 65_536)
        for _ in 0..<seconds {
            // At most the array's size is written.
            let count = unsafe recv(descriptor, &chunk, chunk.count, 0)
            if count >= 0 { return Array(chunk[..<count]) }
            if errno == ECONNRESET { return [] }
        }
        return nil
    }

    /// Up to the server's close, and whether it has closed.
    package func readAll() -> (text: String, isClosed: Bool) {
        var all: [UInt8] = []
        while let some = readSome() {
            if some.isEmpty { return (String(decoding: all, as: UTF8.self), true) }
            all += some
        }
        return (String(decoding: all, as: UTF8.self), false)
    }

    /// One answer with a Content-Length; nil = the server has closed, or nothing came.
    package func readAnswer() -> (status: String, head: String, body: String)? {
        var all: [UInt8] = []
        while true {
            let text = String(decoding: all, as: UTF8.self)
            if let end = text.range(of: "\r\n\r\n") {
                let head = String(text[..<end.lowerBound])
                let line = head.components(separatedBy: "\r\n").first { $0.hasPrefix("Content-Length: ") }
                let length = Int(line?.dropFirst(16) ?? "0") ?? 0
                let body = String(text[end.upperBound...])
                if body.utf8.count >= length { return (String(head.dropFirst(9).prefix(3)), head, body) }
            }
            guard let some = readSome(), !some.isEmpty else { return nil }
            all += some
        }
    }
}
