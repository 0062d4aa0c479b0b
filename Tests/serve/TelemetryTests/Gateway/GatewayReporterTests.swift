internal import AppAttest
internal import Settings
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

    @Test func `what calls bring and no file has is named, however it is spelled`() {
        var reporter = GatewayReporter(replies: nil)
        let (app, key) = (NamedCalls(count: 2, name: "projects/p/apps/a\nb"), NamedCalls(count: 1, name: "k1"))
        let events = reporter.poll(nil, GatewayCounts(), unknown: (app, key))
        #expect(events.map(\.name) == [.gatewayUnknownApp, .gatewayUnknownKey])
        #expect(events.map(\.level) == [.warning, .error])
        #expect(
            events[0].message.hasPrefix("2 calls get 503") && events[0].message.contains("projects/p/apps/a[U+000A]b:")
        )
        #expect(events[1].message.contains("k1"))
        let long = NamedCalls(count: 1, name: ExactText(String(repeating: "a", count: 1_000)))
        #expect(reporter.poll(nil, GatewayCounts(), unknown: (long, nil)).allSatisfy { $0.message.utf8.count < 400 })
    }

    @Test(arguments: ["appattest.replies", nil])
    func `three calls without an answer are an error, which names topics.replies where that topic is read`(
        topic: String?
    ) {
        var reporter = GatewayReporter(replies: topic)
        var counts = GatewayCounts()
        for count in 1...3 {
            counts.unanswered = count
            let events = reporter.poll(nil, counts)
            #expect(events.map(\.name) == (count == 3 ? [.gatewayUnanswered] : []))
            #expect(events.allSatisfy { $0.level == .error && $0.message.contains("topics.replies") == (topic != nil) })
        }
        #expect(reporter.poll(nil, counts).isEmpty, "nothing has changed")
    }

    @Test func `a broker whose clock is off is named once with the difference, and again when it agrees`() {
        var reporter = GatewayReporter(replies: nil)
        var counts = GatewayCounts()
        #expect(reporter.poll(nil, counts).isEmpty)
        counts.strayBrokers = [2: 240_300]
        let first = reporter.poll(nil, counts)
        #expect(first.map(\.name) == [.brokerClock] && first[0].level == .error)
        #expect(first[0].message.hasPrefix("the clock of broker 2 is 240 s ahead of this machine's"))
        counts.strayBrokers = [2: 240_900, 5: -90_000]
        #expect(reporter.poll(nil, counts).map { $0.message.contains("broker 5 is 90 s behind") } == [true])
        counts.strayBrokers = [5: -90_000]
        #expect(reporter.poll(nil, counts).map(\.message) == ["the clock of broker 2 agrees again"])
        #expect(reporter.poll(nil, counts).isEmpty)
    }
}
