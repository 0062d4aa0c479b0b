internal import Foundation
internal import Gateway
internal import HTTP
internal import Pipeline
internal import Threads

/// The gateway behind its real server, without a broker; it remembers what its handler saw from which address.
package final class HostileWorld {
    /// Who answers a client's calls.
    package enum Answering: CaseIterable, Sendable {
        case gateway
        /// Another thread, after a while.
        case later
        /// Nobody: the responder goes away at once, or on another thread.
        case dropped, droppedLater
    }

    private struct Visit {
        let answering: Answering
        var calls: [HTTPCall] = []
    }

    private let gateway: Gateway
    private let server: HTTPCallServer
    private let outlet: HostileOutlet
    private let visits: Locked<[[UInt8]: Visit]>
    private let clock: any DispatchSourceTimer

    package var port: UInt16 { server.port }

    static let limits: HTTPCallLimits = {
        var limits = HTTPCallLimits()
        (limits.requestSeconds, limits.idleSeconds, limits.connections) = (1, 1, 1_024)
        return limits
    }()

    /// - Parameter isStepped: whether time passes with each answer, so that no call waits for it.
    package init(isStepped: Bool) throws {
        let (outlet, visits) = (HostileOutlet(isStepped: isStepped), Locked<[[UInt8]: Visit]>([:]))
        let counter = Locked<UInt64>(0)
        let dependencies = Gateway.Dependencies(
            wallClock: { HostileRules.now },
            uptime: { outlet.uptime },
            randomBytes: { count in
                let number = counter.withLock { number in
                    number += 1
                    return number
                }
                return (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * UInt64($0 % 8))) }
            }
        )
        let gateway = Gateway(
            try HostileRules.make(),
            topics: HostileRules.topics,
            dependencies: dependencies,
            outlet: outlet
        )
        outlet.serve(gateway)
        var limits = Self.limits
        // Between two inputs the healthy client's connection is silent.
        if isStepped { limits.idleSeconds = 650 }
        server = try HTTPCallServer(address: "127.0.0.1", port: 0, limits: limits) { call, responder in
            Self.handle(call, responder, gateway, visits)
        }
        gateway.open()
        clock = DispatchSource.makeTimerSource(queue: .global())
        clock.schedule(deadline: .now(), repeating: .milliseconds(20))
        clock.setEventHandler { gateway.poll() }
        clock.resume()
        (self.gateway, self.outlet, self.visits) = (gateway, outlet, visits)
    }

    package func stop() {
        server.stop()
        clock.cancel()
        gateway.close()
        outlet.serve(nil)
    }

    /// What stays open beside `connections` of those clients that have not gone; nil = nothing.
    package func leftOpen(beside connections: Int) -> String? {
        for _ in 0..<5_000 {
            let counts = server.counts
            if counts.openConnections <= connections, counts.openCalls == 0, gateway.counts.waiting == 0 { return nil }
            usleep(1_000)
        }
        return "open at the end: \(server.counts), \(gateway.counts.waiting) calls wait"
    }

    // MARK: What the handler sees

    package func expect(_ visit: HostileVisit) {
        visits.withLock { $0[visit.source] = Visit(answering: visit.answering) }
    }

    func calls(from source: [UInt8]) -> [HTTPCall] { visits.withLock { $0[source]?.calls ?? [] } }

    package func forget(_ source: [UInt8]) { visits.withLock { $0[source] = nil } }

    /// What an answer to a client's call bears.
    static func mark(_ source: [UInt8], _ index: Int) -> String {
        source.map(String.init).joined(separator: ".") + "-\(index)"
    }

    private static func handle(
        _ call: HTTPCall,
        _ responder: any HTTPResponder,
        _ gateway: Gateway,
        _ visits: Locked<[[UInt8]: Visit]>
    ) {
        let source = call.peer.bytes
        let visit = visits.withLock { visits in
            visits[source]?.calls.append(call)
            return visits[source]
        }
        guard let visit else { return gateway.handle(call, responder) }
        let marked = MarkedResponder(responder, mark(source, visit.calls.count - 1))
        let pause = DispatchTime.now() + .microseconds(Int(source[3]) * 50)
        switch visit.answering {
        case .gateway: gateway.handle(call, marked)
        case .later:
            DispatchQueue.global().asyncAfter(deadline: pause) {
                marked.answer(HTTPReply(status: 200, body: call.body))
            }
        case .dropped: break
        case .droppedLater: DispatchQueue.global().asyncAfter(deadline: pause) { withExtendedLifetime(marked) {} }
        }
    }
}

/// Says in a header which call it answers.
private final class MarkedResponder: HTTPResponder {
    private let responder: any HTTPResponder
    private let mark: String

    init(_ responder: any HTTPResponder, _ mark: String) { (self.responder, self.mark) = (responder, mark) }

    func answer(_ reply: HTTPReply) {
        var reply = reply
        reply.headers.append((name: "X-Seen", value: mark))
        responder.answer(reply)
    }
}
