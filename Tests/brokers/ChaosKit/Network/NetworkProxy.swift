package import BrokerKit
internal import Foundation
internal import Pipeline
internal import Threads

/// The network between clients and brokers: it reads Kafka's frames and harms those that a test selects.
///
/// A listener for each broker at the port that the broker advertises, one thread for all. Only on loopback, for
/// brokers without TLS and without SASL on that listener.
package final class NetworkProxy: ClusterProxy {
    enum Order: Sendable {
        case plan(Int, NetworkFault)
        case forget(Int?)
        case weather(NetworkWeather, broker: Int?)
        case deliver(Int)
        case cutAll
    }

    /// The state that the thread and its users share.
    struct Shared: Sendable {
        var orders: [Order] = []
        var events = NetworkEvents()
        var faults = 0
        /// Orders given, and carried out.
        var given = 0
        var obeyed = 0
        var isStopping = false
        var hasEnded = false
    }

    private let shared = Locked(Shared())
    private let wakeup: ProxyWakeup
    package let routes: [ClusterRoute]

    /// - Throws: a ``ClusterFault`` where a port is taken.
    package init(_ routes: [ClusterRoute]) throws {
        // All that throws comes before the last property: an object that is not made has no thread to stop.
        let wakeup = try ProxyWakeup()
        let loop = try ProxyLoop(routes, shared, wakeup)
        (self.routes, self.wakeup) = (routes, wakeup)
        let thread = Thread { loop.run() }
        thread.name = "network"
        thread.start()
    }

    deinit { stop() }

    /// Cuts every connection and waits until the thread has ended.
    package func stop() {
        shared.withLock { $0.isStopping = true }
        wakeup.signal()
        while !shared.withLock({ $0.hasEnded }) { usleep(1_000) }
    }

    /// Where clients come to, as `bootstrap.servers`.
    package var bootstrapServers: String { routes.map { "127.0.0.1:\($0.listen)" }.joined(separator: ",") }

    package var events: NetworkEvents { shared.withLock { $0.events } }

    /// Applies a fault to the next request that matches. Of several matching faults the oldest is applied.
    ///
    /// - Returns: its number in ``NetworkEvents/done`` and ``HeldFrame/fault``.
    @discardableResult
    package func plan(_ fault: NetworkFault) -> Int {
        let number = shared.withLock { shared in
            shared.faults += 1
            return shared.faults
        }
        order(.plan(number, fault))
        return number
    }

    /// Removes a pending fault; nil = all.
    package func forget(_ fault: Int? = nil) { order(.forget(fault)) }

    /// - Parameter broker: from 1 on; nil = all.
    package func set(_ weather: NetworkWeather, broker: Int? = nil) { order(.weather(weather, broker: broker)) }

    /// Releases a held frame, by the number of the fault that holds it.
    package func deliver(_ fault: Int) { order(.deliver(fault)) }

    /// Cuts every connection.
    package func cutAll() { order(.cutAll) }

    /// Waits until the events meet the condition. - Returns: false when they do not in time.
    package func wait(_ seconds: Int = 30, until condition: (NetworkEvents) -> Bool) -> Bool {
        Deadline.wait(seconds) { condition(events) }
    }

    /// Returns once the order is in force for what comes from now on.
    private func order(_ order: Order) {
        let number = shared.withLock { shared in
            shared.orders.append(order)
            shared.given += 1
            return shared.given
        }
        wakeup.signal()
        while shared.withLock({ $0.obeyed < number && !$0.hasEnded }) { usleep(200) }
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

/// Wakes the thread from its wait.
final class ProxyWakeup: Sendable {
    let reading: Int32
    private let writing: Int32

    init() throws {
        var ends: [Int32] = [-1, -1]
        // Room for the two descriptors.
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let code = unsafe ends.withUnsafeMutableBufferPointer { unsafe socketpair(AF_UNIX, kind, 0, $0.baseAddress) }
        guard code == 0 else { throw ClusterFault(description: "no socket pair: errno \(errno)") }
        (reading, writing) = (ends[0], ends[1])
    }

    deinit {
        close(reading)
        close(writing)
    }

    func signal() {
        let byte: [UInt8] = [1]
        // One byte of an array that lives on; a full pipe wakes the reader just as well.
        _ = unsafe byte.withUnsafeBytes { unsafe write(writing, $0.baseAddress, 1) }
    }

    func clear() {
        var bytes = [UInt8](repeating: 0, count: 256)
        // An array's own bytes and their count.
        while unsafe bytes.withUnsafeMutableBytes({ unsafe read(reading, $0.baseAddress, $0.count) }) == 256 {}
    }
}
