import Foundation

/// A server for one connection, which answers each request with the next text, whatever was asked.
final class ScriptedServer: @unchecked Sendable {
    let port: UInt16
    private let listener: Int32
    private let answers: [String]
    private let lock = NSLock()
    private var seen: [String] = []

    /// The heads of the requests in their order.
    var requests: [String] { lock.withLock { seen } }

    init?(_ answers: [String]) {
        self.answers = answers
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = listener
        // The same bytes under the name that the calls take.
        let isBound = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                unsafe bind(descriptor, pointer, size) == 0 && listen(descriptor, 1) == 0
                    && getsockname(descriptor, pointer, &size) == 0
            }
        }
        port = UInt16(bigEndian: address.sin_port)
        guard isBound else { return nil }
        Thread.detachNewThread { self.serve() }
    }

    deinit { close(listener) }

    private func serve() {
        let peer = accept(listener, nil, nil)
        guard peer >= 0 else { return }
        defer { close(peer) }
        for answer in answers {
            guard take(peer), write(answer, to: peer) else { return }
        }
    }

    /// Reads a request up to the end of its head.
    private func take(_ peer: Int32) -> Bool {
        var text = ""
        while !text.contains("\r\n\r\n") {
            var bytes = [UInt8](repeating: 0, count: 4_096)
            // The buffer outlives the call.
            let count = unsafe recv(peer, &bytes, bytes.count, 0)
            guard count > 0 else { return false }
            text += String(decoding: bytes.prefix(count), as: UTF8.self)
        }
        lock.withLock { seen.append(text) }
        return true
    }

    /// - Returns: false where the client has gone.
    private func write(_ text: String, to peer: Int32) -> Bool {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            // The bytes outlive the call.
            let count = unsafe rest.withUnsafeBytes { unsafe send(peer, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }
}
