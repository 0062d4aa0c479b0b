internal import CCurl
internal import Glibc

/// The sockets and the timer of a multi handle, in one epoll.
@safe final class SocketPoller {
    private let poller: Int32
    private let timer: Int32

    private static let mostEvents = 256

    init() throws(ClientFailure) {
        (poller, timer) = (CCurl_makePoller(), CCurl_makeTimer())
        guard poller >= 0, timer >= 0, CCurl_watch(poller, timer, CURL_POLL_IN) == 0 else {
            if poller >= 0 { close(poller) }
            if timer >= 0 { close(timer) }
            throw ClientFailure(kind: .invalid, description: "no descriptor is left for a client")
        }
    }

    deinit {
        close(timer)
        close(poller)
    }

    /// The object must outlive the multi handle.
    func register(in multi: UnsafeMutableRawPointer) {
        _ = unsafe CCurl_setMultiCallbacks(
            multi,
            { _, socket, what, context, _ in
                // Registered below; a number that is not one of the bits forgets the socket.
                unsafe SocketPoller.of(context)?.watch(socket, what == CURL_POLL_REMOVE ? 0 : what)
                return 0
            },
            { _, milliseconds, context in
                unsafe SocketPoller.of(context)?.setTimer(milliseconds)
                return 0
            },
            Unmanaged.passUnretained(self).toOpaque()
        )
    }

    private static func of(_ context: UnsafeMutableRawPointer?) -> SocketPoller? {
        unsafe context.map { unsafe Unmanaged<SocketPoller>.fromOpaque($0).takeUnretainedValue() }
    }

    private func watch(_ socket: Int32, _ bits: Int32) { CCurl_watch(poller, socket, bits) }

    private func setTimer(_ milliseconds: Int) { CCurl_setTimer(timer, milliseconds) }

    /// Waits for events and lets the library act on them.
    ///
    /// - Returns: whether there were any.
    func step(_ multi: UnsafeMutableRawPointer, milliseconds: Int) -> Bool {
        var events = [CCurl_event](repeating: CCurl_event(), count: Self.mostEvents)
        // The library writes at most that many.
        let count = unsafe CCurl_wait(poller, &events, Int32(Self.mostEvents), Int32(clamping: milliseconds))
        guard count > 0 else { return false }
        var running: Int32 = 0
        for event in events.prefix(Int(count)) {
            guard event.socket == timer else {
                _ = unsafe curl_multi_socket_action(multi, event.socket, event.bits, &running)
                continue
            }
            CCurl_readTimer(timer)
            _ = unsafe curl_multi_socket_action(multi, CURL_SOCKET_TIMEOUT, 0, &running)
        }
        return true
    }
}
