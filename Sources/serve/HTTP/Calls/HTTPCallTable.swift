internal import CMicrohttpd
internal import Glibc
internal import Threads

/// The calls of a server: who is served, who is refused, and what is open.
final class HTTPCallTable: Sendable {
    private struct Shared {
        var (requests, gone, openCalls, readBytes) = (0, 0, 0, 0)
        var refused: [HTTPRefusalKind: Int] = [:]
        /// Handed to the handler, until the last byte of the answer.
        var handles: [ObjectIdentifier: HTTPCallHandle] = [:]
        var isDraining = false
        var isStopping = false
    }

    let limits: HTTPCallLimits
    let connections: ConnectionTable
    let wakeup: Wakeup
    let drips: Drips
    private let refuse: HTTPCallServer.Refuser
    private let handler: HTTPCallServer.Handler
    private let shared = Locked(Shared())
    private let bodies: BodyMemory
    private let heads = UnfinishedHeads()

    init(
        limits: HTTPCallLimits,
        connections: ConnectionTable,
        wakeup: Wakeup,
        refuse: @escaping HTTPCallServer.Refuser,
        handler: @escaping HTTPCallServer.Handler
    ) {
        (self.limits, self.connections, self.wakeup) = (limits, connections, wakeup)
        (self.refuse, self.handler) = (refuse, handler)
        bodies = BodyMemory(most: limits.readBytes)
        drips = Drips(wakeup)
    }

    static let noAnswer = HTTPReply.error(500, "INTERNAL", "There is no answer.")

    var counts: HTTPCallCounts {
        let table = connections.counts
        return shared.withLock { shared in
            var counts = HTTPCallCounts()
            (counts.requests, counts.refused, counts.gone) = (shared.requests, shared.refused, shared.gone)
            counts.readBytes = shared.readBytes
            (counts.connections, counts.openConnections) = (table.accepted, table.open)
            (counts.timedOut, counts.evicted, counts.openCalls) = (table.timedOut, table.evicted, shared.openCalls)
            return counts
        }
    }

    /// Answers a call, from any thread.
    func answer(_ handle: HTTPCallHandle, _ reply: HTTPReply) {
        handle.answer(reply) { shared.withLock { shared in shared.openCalls -= 1 } }
    }

    // MARK: Of the server's thread

    /// A request's line has come.
    func begin(_ handle: HTTPCallHandle) {
        handle.connection.handle = handle
        heads.begin(handle)
    }

    /// Refused before its body is read; nil = its body is awaited.
    func judge(_ handle: HTTPCallHandle, _ head: RequestHead) -> HTTPRefusal? {
        heads.end(handle)
        handle.isOld = head.isOld
        handle.stage = .body
        let length = head.length ?? 0
        guard let refusal = head.refusal(limits) else {
            handle.head = head
            return nil
        }
        // A sender whose body is never read may lose the answer.
        let isReadFirst = refusal.isFramed && !head.expectsContinue && length > 0 && length <= limits.drainedBytes
        guard isReadFirst else { return refusal }
        handle.refusal = refusal
        return nil
    }

    /// The library is about to refuse a request by itself. Once it has all headers, it would send the head of its answer
    /// twice; before, it sends one.
    func refuse(_ status: UInt32) {
        guard let handle = heads.judged else { return }
        heads.end(handle)
        handle.stage = .answered
        // A length that is not a number, or too large a one, or no room for the library's own entries.
        answerPast(handle, HTTPRefusal(status == 413 ? .bodySize : status == 431 ? .headerSize : .framing))
    }

    /// Cases in which the library would take no answer, or make a wrong one.
    func answerPast(_ handle: HTTPCallHandle, _ refusal: HTTPRefusal) {
        connections.sends(handle.connection)
        handle.connection.sayLast(counted(refusal), isHead: handle.isHead)
    }

    /// Bytes of a body have come.
    func add(_ bytes: UnsafeRawBufferPointer, to handle: HTTPCallHandle) {
        // The caller's bytes are there until it returns.
        unsafe bodies.add(bytes, to: handle) { oldest in
            oldest.refusal = HTTPRefusal(.memory)
            answerPast(oldest, HTTPRefusal(.memory))
        }
        noteBodies()
    }

    private func noteBodies() { shared.withLock { $0.readBytes = bodies.count } }

    /// Calls the handler with a request that is whole, unless the server stops.
    func hand(_ handle: HTTPCallHandle, peer: PeerAddress) -> HTTPRefusal? {
        bodies.leave(handle)
        noteBodies()
        if let refusal = handle.refusal { return refusal }
        guard let head = handle.head else { return HTTPRefusal(.unreadable) }
        let isServed = shared.withLock { shared in
            guard !shared.isStopping else { return false }
            shared.requests += 1
            shared.openCalls += 1
            shared.handles[ObjectIdentifier(handle)] = handle
            return true
        }
        guard isServed else { return HTTPRefusal(.stopping) }
        handle.stage = .handed
        connections.handed(handle.connection)
        let call = HTTPCall(
            method: head.method,
            target: head.origin ?? [],
            headers: head.headers,
            body: handle.body,
            peer: peer
        )
        (handle.head, handle.body) = (nil, [])
        handler(call, CallResponder(handle, self))
        return nil
    }

    func counted(_ refusal: HTTPRefusal) -> HTTPReply {
        shared.withLock { shared in shared.refused[refusal.kind, default: 0] += 1 }
        return refuse(refusal)
    }

    /// Whether the connection ends with this answer.
    func closes(_ reply: HTTPReply, _ handle: HTTPCallHandle) -> Bool {
        reply.closes || handle.isOld || shared.withLock { shared in shared.isDraining || shared.isStopping }
    }

    /// Notes a connection before its descriptor is closed.
    func closed(_ connection: HTTPConnection) {
        guard connections.closed(connection) else { return }
        shared.withLock { shared in shared.refused[.unreadable, default: 0] += 1 }
    }

    func noteGone() { shared.withLock { shared in shared.gone += 1 } }

    /// The answer's last byte is sent, or the connection has ended.
    ///
    /// - Parameter isBroken: the library gave up on the request.
    func completed(_ handle: HTTPCallHandle, isBroken: Bool) {
        handle.connection.handle = nil
        heads.end(handle)
        bodies.leave(handle)
        handle.body = []
        noteBodies()
        let wasUnanswered = handle.end() && handle.stage == .handed
        shared.withLock { shared in
            if wasUnanswered { shared.openCalls -= 1 }
            if isBroken, handle.stage == .head { shared.refused[.unreadable, default: 0] += 1 }
            shared.handles[ObjectIdentifier(handle)] = nil
        }
        connections.rests(handle.connection)
    }

    // MARK: The end

    func drain() { shared.withLock { shared in shared.isDraining = true } }

    /// Answers what is open with 503, and refuses what comes from now on.
    func stop() {
        let open = shared.withLock { shared in
            shared.isStopping = true
            return Array(shared.handles.values)
        }
        for handle in open { answer(handle, refuse(HTTPRefusal(.stopping))) }
    }

    /// Hands the table to the caller that stops the daemon and gets its last callbacks: the server's thread has ended.
    func release() {
        bodies.owner.release()
        heads.owner.release()
    }

    /// Whether every answer is sent.
    var isEmpty: Bool { shared.withLock { shared in shared.handles.isEmpty } }
}

/// The requests whose headers are not whole. The server's thread owns them.
private final class UnfinishedHeads: @unchecked Sendable {
    var owner = Owner("UnfinishedHeads")
    /// The open heads in no order, but the last is mostly at the end.
    private var open: [HTTPCallHandle] = []

    func begin(_ handle: HTTPCallHandle) {
        owner.check()
        assert(handle.place == nil && handle.stage == .head, "a head begins once")
        handle.place = open.count
        open.append(handle)
    }

    func end(_ handle: HTTPCallHandle) {
        owner.check()
        guard let place = handle.place, let last = open.popLast() else { return }
        assert(last === handle || open[place] === handle, "a head is where it was put")
        handle.place = nil
        guard last !== handle else { return }
        (open[place], last.place) = (last, place)
    }

    /// The one whose headers the library judges: one thread judges one at a time, and then calls the handler or refuses.
    var judged: HTTPCallHandle? { open.last { $0.isJudged } }
}
