internal import BrokerKit
internal import Foundation
internal import Threads

/// The proxy's thread: waits for sockets, moves bytes, keeps time.
final class ProxyLoop: @unchecked Sendable {
    // Only its own thread touches what follows; others use `shared`.
    let routes: [ClusterRoute]
    let shared: Locked<NetworkProxy.Shared>
    /// Has bytes where there are orders.
    private let woken: LoopbackSocket
    private var listeners: [LoopbackSocket]
    var connections: [ProxyConnection] = []
    var deliveries: [LateDelivery] = []
    var faults: [(number: Int, fault: NetworkFault)] = []
    var weather: [NetworkWeather]
    var transactions = TransactionWatch()
    private var buckets: [(up: ProxyBucket, down: ProxyBucket)]
    private var buffer = [UInt8](repeating: 0, count: 65_536)

    private static let maxConnections = 1_000

    init(_ routes: [ClusterRoute], _ shared: Locked<NetworkProxy.Shared>, _ woken: LoopbackSocket) throws {
        (self.routes, self.shared, self.woken) = (routes, shared, woken)
        listeners = try routes.map { try LoopbackSocket.listening(on: $0.listen) }
        weather = routes.map { _ in .clear }
        buckets = routes.map { _ in (ProxyBucket(), ProxyBucket()) }
    }

    func run() {
        while !shared.withLock({ $0.isStopping }) {
            let orders = shared.withLock { shared in
                defer { shared.orders = [] }
                return shared.orders
            }
            for (number, act) in orders {
                act(self, number)
                shared.withLock { $0.obeyed = number }
            }
            turn()
        }
        for connection in connections { connection.close() }
        (connections, listeners, deliveries) = ([], [], [])
        shared.withLock { shared in
            shared.events.connections = 0
            shared.hasEnded = true
        }
    }

    /// Waits for the first of many, and serves all that are ready.
    private func turn() {
        var waits = ProxyWaits()
        let now = ContinuousClock.now
        waits.add(woken.descriptor, POLLIN)
        for listener in listeners { waits.add(listener.descriptor, POLLIN) }
        for connection in connections { want(connection, now, &waits) }
        for delivery in deliveries { waits.add(delivery.socket.descriptor, delivery.flow.isEmpty ? POLLIN : POLLOUT) }
        for delivery in deliveries { waits.sleep(until: delivery.deadline, now) }
        let (open, late) = (connections, deliveries)
        waits.wait()
        while let count = woken.read(into: &buffer), count > 0 {}
        var ready = waits.results.dropFirst()
        for index in listeners.indices where ready.popFirst().map({ $0 != 0 }) == true { welcome(index) }
        let then = ContinuousClock.now
        for connection in open {
            let (client, server) = (ready.popFirst() ?? 0, ready.popFirst() ?? 0)
            serve(connection, client, server, then)
        }
        for delivery in late { serve(delivery, ready.popFirst() ?? 0, then) }
        connections.removeAll { $0.isOver }
        shared.withLock { $0.events.connections = connections.count { $0.client.isOpen } }
    }

    private func want(_ connection: ProxyConnection, _ now: ContinuousClock.Instant, _ waits: inout ProxyWaits) {
        let way = weather[connection.route]
        let (up, down) = (connection.up, connection.down)
        var (client, server): (Int32, Int32) = (0, 0)
        if up.mayRead { client |= POLLIN }
        if down.mayRead { server |= POLLIN }
        for (flow, isUp) in [(up, true), (down, false)] where !(isUp ? way.stopsRequests : way.stopsAnswers) {
            guard let due = flow.due else { continue }
            guard due <= now else {
                waits.sleep(until: due, now)
                continue
            }
            // A throttled way is looked at again when there is something to spend.
            if way.bytesPerSecond != nil {
                waits.sleep(until: now + .milliseconds(10), now)
            } else if isUp {
                server |= POLLOUT
            } else {
                client |= POLLOUT
            }
        }
        if let drained = connection.drained { waits.sleep(until: drained + ProxyConnection.linger, now) }
        waits.add(connection.client.isOpen ? connection.client.descriptor : -1, client)
        waits.add(connection.server.isOpen ? connection.server.descriptor : -1, server)
    }

    private func welcome(_ index: Int) {
        while let client = listeners[index].accept() {
            guard connections.count < Self.maxConnections,
                let server = LoopbackSocket.connecting(to: routes[index].broker)
            else { continue }
            connections.append(ProxyConnection(route: index, client: client, server: server))
        }
    }

    private func serve(
        _ connection: ProxyConnection,
        _ client: Int32,
        _ server: Int32,
        _ now: ContinuousClock.Instant
    ) {
        if connection.client.isOpen, connection.up.mayRead, client & (POLLIN | POLLHUP | POLLERR) != 0 {
            readClient(connection, now)
        } else if client & POLLERR != 0 {
            connection.cutClient()
        }
        if connection.server.isOpen, connection.down.mayRead, server & (POLLIN | POLLHUP | POLLERR) != 0 {
            readServer(connection, now)
        } else if server & POLLERR != 0 {
            connection.loseServer()
        }
        write(connection, now)
        connection.tidy(now)
    }

    private func readClient(_ connection: ProxyConnection, _ now: ContinuousClock.Instant) {
        guard connection.up.input.fill(from: connection.client, by: &buffer) else { return connection.cutClient() }
        while connection.client.isOpen, case let next = connection.up.input.next(), next != .incomplete {
            guard case .frame(let frame) = next, let head = RequestHead(frame) else { return connection.close() }
            request(frame, head, on: connection, now)
        }
    }

    private func readServer(_ connection: ProxyConnection, _ now: ContinuousClock.Instant) {
        guard connection.down.input.fill(from: connection.server, by: &buffer) else { return connection.loseServer() }
        while case let next = connection.down.input.next(), next != .incomplete {
            guard case .frame(let frame) = next else { return connection.close() }
            answer(frame, on: connection, now)
        }
    }

    private func write(_ connection: ProxyConnection, _ now: ContinuousClock.Instant) {
        let (way, route) = (weather[connection.route], connection.route)
        if connection.server.isOpen, !way.stopsRequests {
            let limit = way.bytesPerSecond.map { buckets[route].up.allowance($0, now: now) } ?? .max
            let count = connection.up.write(to: connection.server, now: now, limit: limit)
            if way.bytesPerSecond != nil { buckets[route].up.take(count ?? 0) }
            if count == nil { connection.loseServer() }
        }
        if connection.client.isOpen, !way.stopsAnswers {
            let limit = way.bytesPerSecond.map { buckets[route].down.allowance($0, now: now) } ?? .max
            let count = connection.down.write(to: connection.client, now: now, limit: limit)
            if way.bytesPerSecond != nil { buckets[route].down.take(count ?? 0) }
            if count == nil { connection.cutClient() }
        }
    }

    private func serve(_ delivery: LateDelivery, _ ready: Int32, _ now: ContinuousClock.Instant) {
        if ready & POLLOUT != 0, delivery.flow.write(to: delivery.socket, now: now, limit: .max) == nil {
            return finish(delivery, nil)
        }
        if ready & (POLLIN | POLLHUP | POLLERR) != 0, ready & POLLOUT == 0 || ready & (POLLHUP | POLLERR) != 0 {
            guard delivery.input.fill(from: delivery.socket, by: &buffer) else { return finish(delivery, nil) }
            if case .frame(let frame) = delivery.input.next() { return finish(delivery, frame) }
        }
        if now >= delivery.deadline { finish(delivery, nil) }
    }
}

/// The sockets of one wait, and how long it may last.
struct ProxyWaits {
    private var polled: [pollfd] = []
    private var milliseconds: Int32 = -1

    /// A negative descriptor is passed over.
    mutating func add(_ descriptor: Int32, _ events: Int32) {
        polled.append(pollfd(fd: descriptor, events: Int16(events), revents: 0))
    }

    mutating func sleep(until due: ContinuousClock.Instant, _ now: ContinuousClock.Instant) {
        let left = Int32(max(0, min(60_000, (due - now) / .milliseconds(1) + 1)))
        milliseconds = milliseconds < 0 ? left : min(milliseconds, left)
    }

    mutating func wait() {
        // An array's own elements and their count.
        _ = unsafe polled.withUnsafeMutableBufferPointer {
            unsafe poll($0.baseAddress, nfds_t($0.count), milliseconds)
        }
    }

    var results: [Int32] { polled.map { Int32($0.revents) } }
}
