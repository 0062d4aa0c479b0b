internal import CMicrohttpd
internal import Glibc

/// An HTTP server on a thread of its own. Stops with this object.
///
/// It serves GET and HEAD without bodies. Clients get what ``HTTPLimits`` allows and no more.
@safe package final class HTTPServer: Sendable {
    /// Called on the server's thread, one request at a time.
    package typealias Handler = @Sendable (HTTPRequest) -> HTTPResponse

    /// Where clients connect.
    package let port: UInt16
    private nonisolated(unsafe) let daemon: OpaquePointer
    // Alive as long as the daemon's callbacks can come.
    private let access: HTTPAccess

    /// - Parameters:
    ///   - address: an IPv4 or IPv6 address in digits.
    ///   - port: 0 = any free one.
    package init(
        address: String,
        port: UInt16,
        limits: HTTPLimits = HTTPLimits(),
        handler: @escaping Handler
    ) throws(HTTPFault) {
        let socket = try ListeningSocket.open(address: address, port: port)
        self.port = socket.port
        access = HTTPAccess(handler)
        let descriptor = socket.release()
        // The access object outlives the daemon, which owns the descriptor from here on.
        let started = unsafe CMicrohttpd_start(
            MHD_USE_EPOLL_INTERNAL_THREAD.rawValue,
            descriptor,
            limits.connections,
            limits.connectionsPerAddress,
            limits.timeoutSeconds,
            limits.memoryPerConnection,
            HTTPAccess.callback,
            HTTPAccess.connection,
            access.context
        )
        guard let started = unsafe started else { throw HTTPFault("the HTTP server cannot start on port \(self.port)") }
        unsafe daemon = started
    }

    deinit {
        // The port is ours from here on.
        let listener = unsafe MHD_quiesce_daemon(daemon)
        shutdown(listener, Int32(SHUT_RDWR))
        // The library's own answer to what is not a request has no response once the daemon stops, and it does not
        // look: so no connection may be there by then.
        access.cutAll()
        for _ in 0..<400 where !access.isIdle { usleep(5_000) }
        // Waits for the daemon's thread: no callback comes after this.
        unsafe MHD_stop_daemon(daemon)
        close(listener)
    }
}
