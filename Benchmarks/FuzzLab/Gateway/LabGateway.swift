internal import AppAttest
internal import AppCheck
internal import Crypto
internal import Foundation
internal import Gateway
internal import HTTP
internal import Kafka
internal import Pipeline
internal import Settings

/// The gateway behind its real server, without a broker; it remembers what its handler saw from which address.
final class LabGateway {
    /// Who answers a client's calls.
    enum Answering: CaseIterable {
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

    let gateway: Gateway
    let server: HTTPExchangeServer
    private let outlet: LabOutlet
    private let visits: Locked<[[UInt8]: Visit]>
    private let clock: any DispatchSourceTimer

    static let limits: HTTPExchangeLimits = {
        var limits = HTTPExchangeLimits()
        (limits.requestSeconds, limits.idleSeconds, limits.connections) = (1, 1, 1_024)
        return limits
    }()

    init() throws {
        let (outlet, visits) = (LabOutlet(), Locked<[[UInt8]: Visit]>([:]))
        let gateway = Gateway(try Self.rules(), topics: Self.topics, world: Self.world, outlet: outlet)
        outlet.gateway.withLock { $0 = gateway }
        server = try HTTPExchangeServer(address: "127.0.0.1", port: 0, limits: Self.limits) { call, responder in
            Self.handle(call, responder, gateway, visits)
        }
        gateway.open()
        clock = DispatchSource.makeTimerSource(queue: .global())
        clock.schedule(deadline: .now(), repeating: .milliseconds(20))
        clock.setEventHandler { gateway.look() }
        clock.resume()
        (self.gateway, self.outlet, self.visits) = (gateway, outlet, visits)
    }

    func stop() {
        server.stop()
        clock.cancel()
        gateway.close()
        outlet.gateway.withLock { $0 = nil }
    }

    // MARK: What the handler sees

    func expect(_ source: [UInt8], _ answering: Answering) {
        visits.withLock { $0[source] = Visit(answering: answering) }
    }

    func calls(from source: [UInt8]) -> [HTTPCall] { visits.withLock { $0[source]?.calls ?? [] } }

    func forget(_ source: [UInt8]) { visits.withLock { $0[source] = nil } }

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

    // MARK: Its rules

    private static var topics: GatewayTopics {
        GatewayTopics(names: .standard, partitions: 8, partitioner: .murmur2, properties: KafkaProperties())
    }

    private static var world: Gateway.World {
        let uptime = { @Sendable in Int64(DispatchTime.now().uptimeNanoseconds / 1_000_000) }
        return Gateway.World(
            wallClock: { 1_795_000_000_250 },
            uptime: uptime,
            randomBytes: { count in (0..<count).map { _ in UInt8.random(in: 0...255) } }
        )
    }

    private static func rules() throws -> GatewayRules {
        var configuration = Configuration()
        let expectations = Expectations(appIDs: Pool.appIDs.map { AppID($0) })
        configuration.registry = try Registry(apps: [
            RegisteredApp(
                projectNumber: "123456789012",
                projectID: nil,
                appID: "1:123456789012:ios:0123456789abcdef",
                expectations: expectations
            )
        ])
        // So that a call whose answer never comes is seen to end.
        configuration.gateway.deadlineMilliseconds = 100
        let key = NamedSecret(id: "c", secret: Secret(SHA256.hash([1]).bytes))
        return GatewayRules(configuration, challenges: try SecretRing([key]), verifiers: Verifiers(), keySet: nil)
    }
}

/// Stands for topics and worker: answers from another thread, one request in eight never.
private final class LabOutlet: RequestOutlet {
    let gateway = Locked<Gateway?>(nil)

    func write(_ record: OutboundRequest) {
        guard let ticket = record.ticket, ticket % 8 != 0, let gateway = gateway.withLock({ $0 }) else { return }
        let answer = TopicRecord(
            partition: record.partition,
            offset: 0,
            key: record.key,
            value: Array(#"{"token":"t"}"#.utf8),
            timestamp: 1_795_000_000_250,
            headers: record.headers + [KafkaHeader(name: Array("status".utf8), value: Array("200".utf8))]
        )
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(Int(ticket % 5))) {
            gateway.note(tokens: [answer])
            gateway.note(results: [answer])
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
