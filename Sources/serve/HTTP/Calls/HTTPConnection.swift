internal import CMicrohttpd
internal import Glibc
internal import Threads

/// A client's connection. The lock of its table guards all but the descriptor and what is the server's thread's.
final class HTTPConnection: @unchecked Sendable {
    enum Phase {
        /// It waits for the first byte of a request.
        case waiting
        case reading
        /// The handler has the request.
        case handed
        case sending
    }

    private var owner = Owner("HTTPConnection")
    let descriptor: Int32
    var phase = Phase.waiting
    /// The tick at which the phase began.
    var since: UInt64
    /// Counts phases, so that an old note of this connection can be told from a current one.
    var turn: UInt64 = 0
    var hasBeenServed = false
    /// The bytes that had come in when the last request had ended.
    var received: UInt64 = 0
    /// The turn in which the client was first seen to have left.
    var turnLeft: UInt64?
    /// The request at hand. Of the server's thread.
    var handle: HTTPCallHandle?
    /// Whether the last answer was sent past the library. Of the server's thread.
    private(set) var hasSaidLast = false
    /// No more calls on the descriptor: the number may be another connection's by now.
    var isClosed = false

    init(_ descriptor: Int32, tick: UInt64) { (self.descriptor, since) = (descriptor, tick) }

    func enter(_ phase: Phase, at tick: UInt64) {
        assert(tick >= since, "the sweep's time goes on")
        (self.phase, since) = (phase, tick)
        turn += 1
    }

    /// Whether bytes have come since the last request ended.
    var hasBegun: Bool { CMicrohttpd_look(descriptor).received > received }

    /// Whether the library has ended the connection by itself, upon bytes that are not a request line.
    var wasUnreadable: Bool {
        guard !isClosed, phase == .waiting || phase == .reading else { return false }
        let socket = CMicrohttpd_look(descriptor)
        return socket.received > received && socket.isEnded != 0
    }

    /// Sends an answer past the library, which can send nothing from then on. On the server's thread.
    ///
    /// - Parameter isHead: whether it answers HEAD.
    func sayLast(_ reply: HTTPReply, isHead: Bool) {
        owner.check()
        guard !hasSaidLast else { return }
        hasSaidLast = true
        // The phrase is the library's constant.
        let phrase = unsafe String(cString: MHD_get_reason_phrase_for(UInt32(reply.status)))
        let lines = reply.namedHeaders.map { "\($0.name): \($0.value)\r\n" }.joined()
        let head = "HTTP/1.1 \(reply.status) \(phrase)\r\n\(lines)Content-Length: \(reply.body.count)\r\n"
        let bytes = Array("\(head)Connection: close\r\n\r\n".utf8) + (isHead ? [] : reply.body)
        // A few hundred bytes, for which a socket that has sent all has room.
        _ = unsafe bytes.withUnsafeBytes {
            unsafe send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
        }
        shutdown(descriptor, Int32(SHUT_WR))
    }

    /// Ends the connection; the server's thread sees that and cleans up.
    func cut() {
        guard !isClosed else { return }
        isClosed = true
        shutdown(descriptor, Int32(SHUT_RDWR))
    }
}
