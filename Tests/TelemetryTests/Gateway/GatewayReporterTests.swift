internal import Testing

@testable internal import Gateway
@testable internal import Telemetry

@Suite("What a gateway logs of itself")
struct GatewayReporterTests {
    @Test func `a change of readiness is reported once, however its words change`() {
        var reporter = GatewayReporter(replies: nil)
        let counts = GatewayCounts()
        let first = reporter.poll("this machine's clock is 61 s ahead of the brokers: set it right", counts)
        #expect(first.map(\.name) == [.gatewayNotReady] && first[0].message.hasSuffix("; calls get 503"))
        #expect(reporter.poll("this machine's clock is 62 s ahead of the brokers: set it right", counts).isEmpty)
        #expect(reporter.poll("no broker answers: a", counts).map(\.name) == [.gatewayNotReady])
        #expect(reporter.poll("no broker answers: b", counts).isEmpty)
        #expect(reporter.poll(nil, counts).map(\.name) == [.gatewayReady])
        #expect(reporter.poll(nil, counts).isEmpty)
    }
}
