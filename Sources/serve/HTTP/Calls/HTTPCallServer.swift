internal import CMicrohttpd
internal import Glibc
internal import Threads

/// A server for calls that are answered later.
///
/// One thread serves all connections; those that wait for an answer sleep. Another one ends the connections of clients
/// that are too slow. What readers of HTTP might understand differently is refused, and the connection with it.
@safe package final class HTTPCallServer: Sendable {
    /// Called on the server's thread, with one request at a time. It must not block, nor hold the last reference to the
    /// server.
    package typealias Handler = @Sendable (HTTPCall, any HTTPResponder) -> Void
    /// The server's own answers.
    package typealias Refuser = @Sendable (HTTPRefusalKind) -> HTTPReply

    private enum Life { case accepting, quiet, stopped }

    package let port: UInt16
    /// The most connections: as many as the limit of open files leaves.
    package let connectionLimit: Int
    private let calls: HTTPCallTable
    private let listener: Int32
    private let daemon: ServedDaemon
    private let loop: ServerLoop
    private let sweeper: ConnectionSweeper
    private let life = Locked(Life.accepting)

    /// - Parameters:
    ///   - address: an IPv4 or IPv6 address in digits; `::` serves both.
    ///   - port: 0 = any free one.
    package init(
        address: String,
        port: UInt16,
        limits: HTTPCallLimits = HTTPCallLimits(),
        refuse: @escaping Refuser = \.reply,
        handler: @escaping Handler
    ) throws(HTTPFault) {
        connectionLimit = OpenFiles.connections(wanted: limits.connections)
        let socket = try ListeningSocket.open(address: address, port: port)
        self.port = socket.port
        let tick = min(max(limits.requestSeconds * 1_000 / Self.ticks, 1), 1_000)
        let table = ConnectionTable(
            connections: connectionLimit,
            deadlineTicks: UInt64(limits.requestSeconds * 1_000 / tick + 1)
        )
        let wakeup = try Wakeup()
        calls = HTTPCallTable(limits: limits, connections: table, wakeup: wakeup, refuse: refuse, handler: handler)
        sweeper = try ConnectionSweeper(table, calls.drips, tickMilliseconds: UInt32(tick))
        listener = socket.release()
        // The table of calls outlives the daemon. The listener stays ours until the daemon has stopped.
        let started = unsafe CMicrohttpd_startServer(
            listener,
            UInt32(connectionLimit),
            UInt32(limits.connectionsPerAddress),
            UInt32(limits.idleSeconds),
            Self.memory(limits),
            HTTPServerCallbacks.access,
            HTTPServerCallbacks.target,
            HTTPServerCallbacks.unescape,
            HTTPServerCallbacks.completed,
            HTTPServerCallbacks.connection,
            HTTPServerCallbacks.log,
            Unmanaged.passUnretained(calls).toOpaque()
        )
        guard let started = unsafe started else {
            close(listener)
            throw HTTPFault("the HTTP server cannot start on port \(self.port)")
        }
        daemon = unsafe ServedDaemon(started)
        do throws(HTTPFault) { loop = try ServerLoop(daemon, wakeup) } catch {
            daemon.stop()
            Self.release(listener)
            throw error
        }
    }

    deinit { stop() }

    /// The counts since the start, and those of now.
    package var counts: HTTPCallCounts { calls.counts }

    /// Begins to drain: from now on each answer ends its connection.
    package func beginDrain() { calls.drain() }

    /// Closes the port; open connections go on.
    package func stopAccepting() {
        life.withLock { life in
            guard life == .accepting else { return }
            life = .quiet
            quiesce()
        }
    }

    /// Answers each open call with 503, waits up to two seconds until that is sent, ends all connections, and stops. Not from the handler.
    package func stop() {
        life.withLock { life in
            guard life != .stopped else { return }
            if life == .accepting { quiesce() }
            life = .stopped
            calls.drips.tick(isLast: true)
            calls.stop()
            Self.wait { calls.isEmpty }
            // The library's own answer to what is not a request has no response once the daemon stops, and it does not
            // look: so no connection may be there by then.
            calls.connections.cutAll()
            Self.wait { calls.counts.openConnections == 0 }
            loop.stop()
            calls.release()
            daemon.stop()
            Self.release(listener)
        }
    }

    private static func release(_ listener: Int32) {
        // A number that was closed before may be another connection's by now.
        precondition(close(listener) == 0 || errno != EBADF, "the listener is closed once")
    }

    private static func wait(_ isOver: () -> Bool) {
        for _ in 0..<waits where !isOver() { usleep(waitMicroseconds) }
    }

    private func quiesce() {
        loop.quiesce()
        // Clients are refused from now on; the number stays taken while the server's thread may still use it.
        shutdown(listener, Int32(SHUT_RDWR))
    }

    /// The ticks within the time that a request may take.
    private static let ticks = 10
    private static let (waits, waitMicroseconds): (Int, UInt32) = (400, 5_000)

    /// A block of pages: the library takes smaller ones, or a few large pages, from the heap, where the strict reading of
    /// requests would find no page's start.
    private static func memory(_ limits: HTTPCallLimits) -> Int {
        let page = sysconf(Int32(_SC_PAGESIZE))
        return max(limits.headerBytes, 32_768, page) + page
    }
}

/// The process's limit of open files.
package enum OpenFiles {
    /// Kept for files, Kafka's connections and the metrics page.
    private static let others = 256
    /// One alone would be held by a scrape's idle connection while a probe waits.
    private static let fewest = 16

    /// Connections that the hard limit allows.
    package static var mostConnections: Int {
        limit.map { max(Int(clamping: $0.rlim_max) - others, fewest) } ?? Int.max
    }

    /// Raises the soft limit as far as needed and possible.
    ///
    /// - Returns: how many connections fit, at least ``fewest``.
    package static func connections(wanted: Int) -> Int {
        let needed = rlim_t(wanted + others)
        if var soft = limit, soft.rlim_cur < needed {
            soft.rlim_cur = min(needed, soft.rlim_max)
            // The structure is ours.
            _ = unsafe setrlimit(files, &soft)
        }
        guard let now = limit else { return wanted }
        let left = Int(min(now.rlim_cur, needed))
        return min(wanted, max(left - others, fewest))
    }

    private static let files = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)

    private static var limit: rlimit? {
        var limit = rlimit()
        // The structure is ours.
        return unsafe getrlimit(files, &limit) == 0 ? limit : nil
    }
}
