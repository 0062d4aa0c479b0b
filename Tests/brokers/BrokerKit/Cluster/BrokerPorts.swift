internal import Foundation
internal import Threads

/// The loopback ports of one broker.
///
/// They lie below those that the system hands out by itself: a client that tries the port of a broker that is down
/// could be given that very port for its own end, and the broker could not come back.
package struct BrokerPorts: Sendable {
    var plain: UInt16
    var controller: UInt16
    var sasl: UInt16
    /// TLS without client certificates, with them, and with passwords and tokens.
    var tls: UInt16
    var mutual: UInt16
    var saslTLS: UInt16
    /// Where the broker serves what comes through a network, and the port that it advertises to such clients.
    var via: UInt16
    var advertised: UInt16

    init() throws {
        let free = try (0..<8).map { _ in try Self.freePort() }
        (plain, controller, sasl, tls) = (free[0], free[1], free[2], free[3])
        (mutual, saslTLS, via, advertised) = (free[4], free[5], free[6], free[7])
    }

    /// A loopback port that was free a moment ago, and that this process gives to nobody else: a broker takes seconds
    /// to bind its own, while clusters beside it look for theirs.
    package static func freePort() throws -> UInt16 {
        for _ in 0..<1000 {
            let port = UInt16.random(in: range)
            if given.withLock({ $0.insert(port).inserted }), canBind(port) { return port }
        }
        throw ClusterFault(description: "no free port")
    }

    private static let given = Locked(Set<UInt16>())

    private static let range: ClosedRange<UInt16> = 15_000...31_999

    private static func canBind(_ port: UInt16) -> Bool {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr = in_addr(s_addr: UInt32(0x7f00_0001).bigEndian)
        // A socket address of the stated size, alive during the call.
        return unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }
}
