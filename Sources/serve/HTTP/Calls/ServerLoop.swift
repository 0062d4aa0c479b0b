internal import CMicrohttpd
internal import Glibc
internal import Threads

/// The server's thread: the library acts upon what has come, and the thread sleeps until more comes.
///
/// In the library's own loop (0.9.75) exactly 128 events at once, or a multiple, are acted upon only after the next event
/// or time-out: it asks the kernel for more first, and sleeps in that call. Run from outside it never sleeps.
@safe final class ServerLoop: Sendable {
    /// Whether the next round begins with the order to accept no connection.
    private let quiesces = Locked(false)
    private let wakeup: Wakeup
    private let thread: ServerThread

    /// - Parameters:
    ///   - daemon: outlives the loop; nothing else runs it.
    ///   - wakeup: to be signalled after a connection is resumed.
    init(_ daemon: ServedDaemon, _ wakeup: Wakeup) throws(HTTPFault) {
        let quiesces = quiesces
        self.wakeup = wakeup
        thread = try ServerThread("http-server") {
            let isOrdered = quiesces.withLock { order in
                defer { order = false }
                return order
            }
            if isOrdered { daemon.quiesce() }
            daemon.round(wakeup)
        }
    }

    /// Accepts no connection from now on, or soon.
    func quiesce() {
        quiesces.withLock { order in order = true }
        wakeup.signal()
    }

    /// Returns after the last round. Once, and not from the loop's own thread.
    func stop() { thread.stop(wakeup.signal) }
}

/// Wakes the loop up, from any thread.
final class Wakeup: Sendable {
    fileprivate let descriptor: Int32

    init() throws(HTTPFault) {
        descriptor = CMicrohttpd_makeWakeup()
        guard descriptor >= 0 else { throw HTTPFault("no descriptor is left for the HTTP server") }
    }

    deinit { close(descriptor) }

    func signal() { CMicrohttpd_signal(descriptor) }
}

/// The library's daemon, to be run on one thread.
@safe struct ServedDaemon: @unchecked Sendable {
    private let pointer: OpaquePointer

    init(_ daemon: OpaquePointer) { unsafe pointer = daemon }

    /// Sleeps until there is something to do, and does it.
    fileprivate func round(_ wakeup: Wakeup) {
        // The daemon outlives its loop.
        unsafe CMicrohttpd_await(pointer, wakeup.descriptor)
        unsafe MHD_run(pointer)
    }

    fileprivate func quiesce() { unsafe MHD_quiesce_daemon(pointer) }

    /// No callback comes after this, and the listener is the caller's to close. Once, after its loop has ended.
    func stop() {
        // The library would close the listener of one that accepts.
        quiesce()
        unsafe MHD_stop_daemon(pointer)
    }
}
