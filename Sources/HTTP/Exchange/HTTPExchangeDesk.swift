internal import CMicrohttpd
internal import Glibc
internal import Threads

/// The exchanges of a server: who is served, who is refused, and what is open.
final class HTTPExchangeDesk: Sendable {
    private struct Shared {
        var (requests, gone, openCalls, readBytes) = (0, 0, 0, 0)
        var refused: [HTTPRefusalKind: Int] = [:]
        /// Handed to the handler, until the last byte of the answer.
        var exchanges: [ObjectIdentifier: HTTPExchange] = [:]
        var isDraining = false
        var isStopping = false
    }

    let limits: HTTPExchangeLimits
    let connections: ConnectionTable
    let bell: ServerBell
    private let refuse: HTTPExchangeServer.Refuser
    private let handler: HTTPExchangeServer.Handler
    private let shared = Locked(Shared())
    private let bodies: BodyMemory
    private let heads = UnfinishedHeads()

    init(
        limits: HTTPExchangeLimits,
        connections: ConnectionTable,
        bell: ServerBell,
        refuse: @escaping HTTPExchangeServer.Refuser,
        handler: @escaping HTTPExchangeServer.Handler
    ) {
        (self.limits, self.connections, self.bell) = (limits, connections, bell)
        (self.refuse, self.handler) = (refuse, handler)
        bodies = BodyMemory(most: limits.readBytes)
    }

    static let noAnswer = HTTPReply.error(500, "INTERNAL", "There is no answer.")

    var counts: HTTPExchangeCounts {
        let table = connections.counts
        return shared.withLock { shared in
            var counts = HTTPExchangeCounts()
            (counts.requests, counts.refused, counts.gone) = (shared.requests, shared.refused, shared.gone)
            counts.readBytes = shared.readBytes
            (counts.connections, counts.openConnections) = (table.accepted, table.open)
            (counts.timedOut, counts.evicted, counts.openCalls) = (table.timedOut, table.evicted, shared.openCalls)
            return counts
        }
    }

    /// Answers a call, from any thread.
    func answer(_ exchange: HTTPExchange, _ reply: HTTPReply) {
        exchange.answer(reply) { shared.withLock { shared in shared.openCalls -= 1 } }
    }

    // MARK: Of the server's thread

    /// A request's line has come.
    func begin(_ exchange: HTTPExchange) {
        exchange.connection.exchange = exchange
        heads.begin(exchange)
    }

    /// Refused before its body is read; nil = its body is awaited.
    func judge(_ exchange: HTTPExchange, _ head: RequestHead) -> HTTPRefusal? {
        heads.end(exchange)
        exchange.isOld = head.isOld
        exchange.stage = .body
        let length = head.length ?? 0
        guard let refusal = head.refusal(limits) else {
            exchange.head = head
            return nil
        }
        // A sender whose body is never read may lose the answer.
        let isReadFirst = refusal.isFramed && !head.expectsContinue && length > 0 && length <= limits.drainedBytes
        guard isReadFirst else { return refusal }
        exchange.refusal = refusal
        return nil
    }

    /// The library is about to refuse a request by itself. Once it has all headers, it would send the head of its answer
    /// twice; before, it sends one.
    func refuse(_ status: UInt32) {
        guard let exchange = heads.judged else { return }
        heads.end(exchange)
        exchange.stage = .answered
        // A length that is not a number, or too large a one, or no room for the library's own entries.
        answerPast(exchange, HTTPRefusal(status == 413 ? .bodySize : status == 431 ? .headerSize : .framing))
    }

    /// Cases in which the library would take no answer, or make a wrong one.
    func answerPast(_ exchange: HTTPExchange, _ refusal: HTTPRefusal) {
        connections.sends(exchange.connection)
        exchange.connection.sayLast(counted(refusal), isHead: exchange.isHead)
    }

    /// Bytes of a body have come.
    func add(_ bytes: UnsafeRawBufferPointer, to exchange: HTTPExchange) {
        // The caller's bytes are there until it returns.
        unsafe bodies.add(bytes, to: exchange) { oldest in
            oldest.refusal = HTTPRefusal(.memory)
            answerPast(oldest, HTTPRefusal(.memory))
        }
        noteBodies()
    }

    private func noteBodies() { shared.withLock { $0.readBytes = bodies.count } }

    /// Calls the handler with a request that is whole, unless the server stops.
    func hand(_ exchange: HTTPExchange, peer: PeerAddress) -> HTTPRefusal? {
        bodies.leave(exchange)
        noteBodies()
        if let refusal = exchange.refusal { return refusal }
        guard let head = exchange.head else { return HTTPRefusal(.unreadable) }
        let isServed = shared.withLock { shared in
            guard !shared.isStopping else { return false }
            shared.requests += 1
            shared.openCalls += 1
            shared.exchanges[ObjectIdentifier(exchange)] = exchange
            return true
        }
        guard isServed else { return HTTPRefusal(.stopping) }
        exchange.stage = .handed
        connections.handed(exchange.connection)
        let call = HTTPCall(
            method: head.method,
            target: head.origin ?? [],
            headers: head.headers,
            body: exchange.body,
            peer: peer
        )
        (exchange.head, exchange.body) = (nil, [])
        handler(call, ExchangeResponder(exchange, self))
        return nil
    }

    func counted(_ refusal: HTTPRefusal) -> HTTPReply {
        shared.withLock { shared in shared.refused[refusal.kind, default: 0] += 1 }
        return refuse(refusal)
    }

    /// Whether the connection ends with this answer.
    func closes(_ reply: HTTPReply, _ exchange: HTTPExchange) -> Bool {
        reply.closes || exchange.isOld || shared.withLock { shared in shared.isDraining || shared.isStopping }
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
    func completed(_ exchange: HTTPExchange, isBroken: Bool) {
        exchange.connection.exchange = nil
        heads.end(exchange)
        bodies.leave(exchange)
        exchange.body = []
        noteBodies()
        let wasUnanswered = exchange.end() && exchange.stage == .handed
        shared.withLock { shared in
            if wasUnanswered { shared.openCalls -= 1 }
            if isBroken, exchange.stage == .head { shared.refused[.unreadable, default: 0] += 1 }
            shared.exchanges[ObjectIdentifier(exchange)] = nil
        }
        connections.rests(exchange.connection)
    }

    // MARK: The end

    func drain() { shared.withLock { shared in shared.isDraining = true } }

    /// Answers what is open with 503, and refuses what comes from now on.
    func stop() {
        let open = shared.withLock { shared in
            shared.isStopping = true
            return Array(shared.exchanges.values)
        }
        for exchange in open { answer(exchange, refuse(HTTPRefusal(.stopping))) }
    }

    /// The server's thread has ended: whoever stops the daemon gets its last callbacks.
    func release() {
        bodies.owner.release()
        heads.owner.release()
    }

    /// Whether every answer is sent.
    var isEmpty: Bool { shared.withLock { shared in shared.exchanges.isEmpty } }
}

/// The requests whose headers are not whole. The server's thread owns them.
private final class UnfinishedHeads: @unchecked Sendable {
    var owner = Owner("UnfinishedHeads")
    /// The open heads in no order, but the last is mostly at the end.
    private var open: [HTTPExchange] = []

    func begin(_ exchange: HTTPExchange) {
        owner.check()
        assert(exchange.place == nil && exchange.stage == .head, "a head begins once")
        exchange.place = open.count
        open.append(exchange)
    }

    func end(_ exchange: HTTPExchange) {
        owner.check()
        guard let place = exchange.place, let last = open.popLast() else { return }
        assert(last === exchange || open[place] === exchange, "a head is where it was put")
        exchange.place = nil
        guard last !== exchange else { return }
        (open[place], last.place) = (last, place)
    }

    /// The one whose headers the library judges: one thread judges one at a time, and then calls the handler or refuses.
    var judged: HTTPExchange? { open.last { $0.isJudged } }
}
