internal import CMicrohttpd
internal import Glibc
internal import Threads

/// The calls of a server: who is served, who is refused, and what is open.
final class HTTPCallTable: Sendable {
    private struct Shared {
        /// The counts of calls; the table of connections has its own.
        var counts = HTTPCallCounts()
        /// Handed to the handler, until the last byte of the answer.
        var handles: [ObjectIdentifier: HTTPCallHandle] = [:]
        var isDraining = false
        var isStopping = false
    }

    let limits: HTTPCallLimits
    let connections: ConnectionTable
    let wakeup: Wakeup
    let drips: Drips
    private let refuser: HTTPCallServer.Refuser
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
        (refuser, self.handler) = (refuse, handler)
        bodies = BodyMemory(most: limits.readBytes)
        drips = Drips(wakeup)
    }

    static let noAnswer = HTTPReply.error(500, "INTERNAL", "There is no answer.")

    var counts: HTTPCallCounts {
        var counts = shared.withLock { shared in shared.counts }
        connections.fill(&counts)
        return counts
    }

    /// Answers a call, from any thread.
    func answer(_ handle: HTTPCallHandle, _ reply: HTTPReply) {
        handle.answer(reply) { shared.withLock { shared in shared.counts.openCalls -= 1 } }
    }

    // MARK: Of the server's thread

    /// A request's line has come.
    func begin(_ handle: HTTPCallHandle) {
        handle.connection.handle = handle
        heads.begin(handle)
    }

    /// Refuses a request before its body is read, or awaits its body.
    func judge(_ handle: HTTPCallHandle, _ head: RequestHead) -> MHD_Result {
        heads.end(handle)
        handle.isOld = head.isOld
        handle.stage = .body
        let length = head.length ?? 0
        guard let refusal = head.refusal(limits) else {
            handle.head = head
            return .YES
        }
        // A sender whose body is never read may lose the answer.
        let isReadFirst = refusal.isFramed && !head.expectsContinue && length > 0 && length <= limits.drainedBytes
        guard isReadFirst else { return refuse(handle, refusal) }
        handle.refusal = refusal
        return .YES
    }

    /// The library is about to refuse a request by itself. Once it has all headers, it would send the head of its answer
    /// twice; before, it sends one.
    func refuse(_ status: UInt32) {
        guard let handle = heads.judged else { return }
        heads.end(handle)
        handle.stage = .answered
        // A length that is not a number, or too large a one, or no room for the library's own entries.
        answerPast(handle, status == 413 ? .bodySize : status == 431 ? .headerSize : .framing)
    }

    /// Cases in which the library would take no answer, or make a wrong one.
    private func answerPast(_ handle: HTTPCallHandle, _ refusal: HTTPRefusalKind) {
        connections.enter(handle.connection, .sending)
        handle.connection.sayLast(counted(refusal), isHead: handle.isHead)
    }

    /// Bytes of a body have come.
    func add(_ bytes: UnsafeRawBufferPointer, to handle: HTTPCallHandle) {
        // The caller's bytes are there until it returns.
        unsafe bodies.add(bytes, to: handle) { oldest in
            oldest.refusal = .memory
            answerPast(oldest, .memory)
        }
        noteBodies()
    }

    private func noteBodies() { shared.withLock { $0.counts.readBytes = bodies.count } }

    /// Calls the handler with a request that is whole, unless the server stops.
    func hand(_ handle: HTTPCallHandle) -> MHD_Result {
        bodies.leave(handle)
        noteBodies()
        if let refusal = handle.refusal { return refuse(handle, refusal) }
        guard let head = handle.head else { return refuse(handle, .unreadable) }
        let isServed = shared.withLock { shared in
            guard !shared.isStopping else { return false }
            shared.counts.requests += 1
            shared.counts.openCalls += 1
            shared.handles[ObjectIdentifier(handle)] = handle
            return true
        }
        guard isServed else { return refuse(handle, .stopping) }
        handle.stage = .handed
        connections.enter(handle.connection, .handed)
        let call = HTTPCall(
            method: head.method,
            target: head.origin ?? [],
            headers: head.headers,
            body: handle.body,
            // The address is the connection's.
            peer: unsafe PeerAddress(CMicrohttpd_peer(handle.library))
        )
        (handle.head, handle.body) = (nil, [])
        handler(call, CallResponder(handle, self))
        return sendOrSuspend(handle)
    }

    private func counted(_ refusal: HTTPRefusalKind) -> HTTPReply {
        count(refusal)
        return refuser(refusal)
    }

    private func count(_ refusal: HTTPRefusalKind) {
        shared.withLock { shared in shared.counts.refused[refusal, default: 0] += 1 }
    }

    /// Notes a connection before its descriptor is closed.
    func closed(_ connection: HTTPConnection) {
        if connections.closed(connection) { count(.unreadable) }
    }

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
            if wasUnanswered { shared.counts.openCalls -= 1 }
            if isBroken, handle.stage == .head { shared.counts.refused[.unreadable, default: 0] += 1 }
            shared.handles[ObjectIdentifier(handle)] = nil
        }
        connections.rests(handle.connection)
    }

    // MARK: The library's answers

    /// Sends the answer, or suspends the connection until there is one.
    func sendOrSuspend(_ handle: HTTPCallHandle) -> MHD_Result {
        handle.answerOrSuspend(wakeup).map { send($0, handle) } ?? .YES
    }

    private func refuse(_ handle: HTTPCallHandle, _ refusal: HTTPRefusalKind) -> MHD_Result {
        // The connection ends without another answer.
        if handle.connection.hasSaidLast { return .NO }
        // The headers may have left the library no room for its answer's head.
        guard refusal == .headerSize else { return send(counted(refusal), handle) }
        answerPast(handle, refusal)
        return .NO
    }

    private func send(_ reply: HTTPReply, _ handle: HTTPCallHandle) -> MHD_Result {
        precondition(HTTPReply.statuses.contains(reply.status), "an answer has a final status")
        handle.stage = .answered
        connections.enter(handle.connection, .sending)
        guard let made = unsafe PacedBody.response(reply, handle.library, drips) else { return .NO }
        // The queue keeps a reference of its own.
        defer { unsafe MHD_destroy_response(made) }
        for (name, value) in reply.namedHeaders {
            // Refuses line ends within both.
            let isAdded = unsafe MHD_add_response_header(made, name, value) == .YES
            precondition(isAdded, "a header of an answer is one line")
        }
        let isLast = shared.withLock { shared in shared.isDraining || shared.isStopping }
        if reply.closes || handle.isOld || isLast {
            _ = unsafe MHD_add_response_header(made, MHD_HTTP_HEADER_CONNECTION, "close")
        }
        return unsafe MHD_queue_response(handle.library, UInt32(reply.status), made)
    }

    // MARK: The end

    func drain() { shared.withLock { shared in shared.isDraining = true } }

    /// Answers what is open with 503, and refuses what comes from now on.
    func stop() {
        let open = shared.withLock { shared in
            shared.isStopping = true
            return Array(shared.handles.values)
        }
        for handle in open { answer(handle, refuser(.stopping)) }
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
