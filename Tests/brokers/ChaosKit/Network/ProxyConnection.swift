/// A client's connection and its counterpart to the broker.
final class ProxyConnection {
    /// From 0 on.
    let route: Int
    let client: LoopbackSocket
    let server: LoopbackSocket
    var up = ProxyFlow()
    var down = ProxyFlow()
    /// The requests whose answers are awaited, by correlation id; a fault of the answer, nil = it passes.
    var awaited: [Int32: (head: RequestHead, fault: NetworkFault.Action?)] = [:]
    /// Of the producer whose connection this is.
    var transactionalID: [UInt8]?
    /// The client gets what waits for it, and then no more.
    var endsBehindAnswers = false
    /// The broker has said its last.
    var serverEnded = false
    /// Since when a connection without a client has nothing more to send.
    var drained: ContinuousClock.Instant?

    init(route: Int, client: LoopbackSocket, server: LoopbackSocket) {
        (self.route, self.client, self.server) = (route, client, server)
    }

    deinit { close() }

    var isOver: Bool { !client.isOpen && !server.isOpen }

    func close() {
        client.close()
        server.close()
    }

    /// Closes the client's connection. Bytes that it has sent still reach the broker, as on a wire.
    func cutClient() {
        client.close()
        down.drop()
    }

    /// The broker has closed: the client gets the bytes that had arrived.
    func loseServer() {
        serverEnded = true
        server.close()
        up.drop()
        if down.isEmpty { client.close() }
    }

    /// Closes what has no more work. - Parameter now: to wait a little for a broker that has an answer to write.
    func tidy(_ now: ContinuousClock.Instant) {
        if client.isOpen, down.isEmpty, serverEnded || endsBehindAnswers { cutClient() }
        guard !client.isOpen, server.isOpen, up.isEmpty else { return }
        guard let drained else {
            server.endWriting()
            self.drained = now
            return
        }
        if now - drained > Self.linger { server.close() }
    }

    static let linger = Duration.seconds(2)
}

/// A held frame on its way, on a connection of its own.
final class LateDelivery {
    let index: Int
    let socket: LoopbackSocket
    let deadline: ContinuousClock.Instant
    /// The transactional id whose next requests wait for the answer.
    let waiting: [UInt8]?
    var flow = ProxyFlow()
    var input = FrameBuffer()

    init(_ index: Int, _ bytes: [UInt8], on socket: LoopbackSocket, waiting: [UInt8]?, now: ContinuousClock.Instant) {
        (self.index, self.socket, self.waiting) = (index, socket, waiting)
        deadline = now + Self.timeBudget
        flow.add(bytes, due: now)
    }

    static let timeBudget = Duration.seconds(5)
}
