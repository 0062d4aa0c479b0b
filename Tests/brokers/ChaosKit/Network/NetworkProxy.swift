package import BrokerKit
internal import Foundation
internal import Threads

/// The network between clients and brokers: it reads Kafka's frames and harms those that a test selects.
///
/// A listener for each broker at the port that the broker advertises, one thread for all. Only on loopback, for
/// brokers without TLS and without SASL on that listener.
package final class NetworkProxy: Sendable {
    /// An act on the thread, which is given its own number.
    typealias Order = @Sendable (ProxyLoop, Int) -> Void

    /// The state that the thread and its users share.
    struct Shared: Sendable {
        var orders: [(number: Int, act: Order)] = []
        var events = NetworkEvents()
        /// The number of the last order that was given, and of the last that was carried out.
        var given = 0
        var obeyed = 0
        var isStopping = false
        var hasEnded = false
    }

    private let shared = Locked(Shared())
    /// A byte from here wakes the thread.
    private let waker: LoopbackSocket
    package let routes: [ClusterRoute]

    /// - Throws: a ``ClusterFault`` where a port is taken.
    package init(_ routes: [ClusterRoute]) throws {
        // All that throws comes before the last property: an object that is not made has no thread to stop.
        let (waker, woken) = try LoopbackSocket.pair()
        let loop = try ProxyLoop(routes, shared, woken)
        (self.routes, self.waker) = (routes, waker)
        let thread = Thread { loop.run() }
        thread.name = "network"
        thread.start()
    }

    deinit { stop() }

    /// Cuts every connection and waits until the thread has ended.
    package func stop() {
        shared.withLock { $0.isStopping = true }
        wake()
        while !shared.withLock({ $0.hasEnded }) { usleep(1_000) }
    }

    /// Where clients come to, as `bootstrap.servers`.
    package var bootstrapServers: String { routes.map { "127.0.0.1:\($0.listen)" }.joined(separator: ",") }

    package var events: NetworkEvents { shared.withLock { $0.events } }

    /// Applies a fault to the next request that matches. Of several matching faults the oldest is applied.
    ///
    /// - Returns: its number in ``NetworkEvents/done`` and ``HeldFrame/fault``.
    @discardableResult
    package func plan(_ fault: NetworkFault) -> Int { order { $0.faults.append(($1, fault)) } }

    /// Removes a pending fault; nil = all.
    package func forget(_ fault: Int? = nil) {
        order { loop, _ in loop.faults.removeAll { fault ?? $0.number == $0.number } }
    }

    /// - Parameter broker: from 1 on; nil = all.
    package func set(_ weather: NetworkWeather, broker: Int? = nil) {
        order { loop, _ in
            for index in loop.routes.indices where broker ?? index + 1 == index + 1 { loop.weather[index] = weather }
        }
    }

    /// Releases a held frame, by the number of the fault that holds it.
    package func deliver(_ fault: Int) { order { loop, _ in loop.deliver(fault: fault) } }

    package func cutAll() { order { loop, _ in for connection in loop.connections { connection.close() } } }

    /// Waits until the events meet the condition. - Returns: false when they do not in time.
    package func wait(_ seconds: Int = 30, until condition: (NetworkEvents) -> Bool) -> Bool {
        Deadline.wait(seconds) { condition(events) }
    }

    /// Wakes the thread; where no byte can be written, one is on its way.
    private func wake() { _ = waker.write([1], from: 0, most: 1) }

    /// Returns the order's number once it is in force for what comes from now on.
    @discardableResult
    private func order(_ order: @escaping Order) -> Int {
        let number = shared.withLock { shared in
            shared.given += 1
            shared.orders.append((shared.given, order))
            return shared.given
        }
        wake()
        while shared.withLock({ $0.obeyed < number && !$0.hasEnded }) { usleep(200) }
        return number
    }
}

extension ClusterSettings {
    /// One broker behind a ``NetworkProxy``.
    package static var behindNetwork: ClusterSettings { ClusterSettings { $0.proxy = { try NetworkProxy($0) } } }
}

extension RealCluster {
    /// The proxy between clients and brokers: clients use its ``NetworkProxy/bootstrapServers``; nil = no proxy.
    package var network: NetworkProxy? { proxy as? NetworkProxy }
}
