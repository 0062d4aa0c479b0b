internal import Testing

@testable internal import Gateway
@testable internal import Telemetry

@Suite("What a gateway logs of itself")
struct GatewayNewsTests {
    @Test func `A change of readiness is told once, however its words change`() {
        var news = GatewayNews(replies: nil)
        let counts = GatewayCounts()
        let first = news.look("this machine's clock is 61 s ahead of the brokers: set it right", counts)
        #expect(first.map(\.name) == [.gatewayNotReady] && first[0].message.hasSuffix("; calls get 503"))
        #expect(news.look("this machine's clock is 62 s ahead of the brokers: set it right", counts).isEmpty)
        #expect(news.look("no broker answers: a", counts).map(\.name) == [.gatewayNotReady])
        #expect(news.look("no broker answers: b", counts).isEmpty)
        #expect(news.look(nil, counts).map(\.name) == [.gatewayReady])
        #expect(news.look(nil, counts).isEmpty)
    }
}
