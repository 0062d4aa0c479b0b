internal import DeviceLab
internal import Foundation
internal import Gateway
internal import HTTP
internal import Kafka
internal import Pipeline
internal import Settings
internal import TestKit
internal import Testing
internal import Threads

@testable internal import Telemetry

@Suite("A gateway whose workers do not answer it")
struct UnansweredTests {
    private final class Outlet: RequestOutlet {
        let tickets = Locked<[UInt]>([])
        func write(_ record: OutboundRequest) { tickets.withLock { $0 += record.ticket.map { [$0] } ?? [] } }
    }

    private final class Nobody: HTTPResponder {
        func answer(_ reply: HTTPReply) {}
    }

    @Test(arguments: ["appattest.replies", nil])
    func `it says so after three calls, and names topics.replies where it reads that topic`(topic: String?) throws {
        let (time, outlet) = (Locked<Int64>(ExchangeKit.start), Outlet())
        var configuration = Configuration()
        configuration.registry = try ExchangeKit.registry()
        let rules = GatewayRules(
            configuration,
            challenges: try ExchangeKit.ring([2]),
            verifiers: try Verifiers([]),
            keySet: nil
        )
        let gateway = Gateway(
            rules,
            topics: GatewayTopics(
                names: .standard,
                partitions: 1,
                partitioner: nil,
                properties: KafkaProperties(),
                replyTo: topic == nil ? nil : 0
            ),
            dependencies: Gateway.Dependencies(
                wallClock: { time.withLock { $0 } },
                uptime: { time.withLock { $0 } },
                randomBytes: { count in
                    [UInt8](repeating: UInt8(truncatingIfNeeded: outlet.tickets.withLock { $0.count }), count: count)
                }
            ),
            outlet: outlet
        )
        gateway.open()
        var reporter = GatewayReporter(replies: topic)
        let challenge = [UInt8](repeating: 7, count: 59)
        for seed: UInt64 in 1...3 {
            let request = ExchangeRequest.attestation(of: .init(ExchangeKit.model, seed: seed), challenge: challenge)
            let text = String(decoding: request.value, as: UTF8.self)
            let body = try #require(text.range(of: #""body":"#))
            let call = HTTPCall(
                method: Array("POST".utf8),
                target: Array("/v1/\(ExchangeKit.resource):exchangeAppAttestAttestation".utf8),
                headers: [],
                body: Array(text[body.upperBound...].dropLast().utf8),
                peer: PeerAddress(bytes: [127, 0, 0, 1])
            )
            gateway.handle(call, Nobody())
            let ticket = try #require(outlet.tickets.withLock { $0.last })
            gateway.note([DeliveryReport(ticket: ticket, outcome: .written)])
            time.withLock { $0 += 30_000 }
            gateway.poll()
            let events = reporter.poll(gateway.unfitness, gateway.counts)
            let names: [LogEvent.Name] = topic == nil ? [.gatewayUnanswered] : [.gatewayNotReady, .gatewayUnanswered]
            #expect(events.map(\.name) == (seed == 3 ? names : []))
            guard seed == 3, let last = events.last else { continue }
            #expect(last.level == .error)
            #expect(last.message.contains("topics.replies") == (topic != nil), "\(events)")
        }
        #expect(reporter.poll(gateway.unfitness, gateway.counts).isEmpty, "nothing has changed")
    }
}
