internal import HTTP
internal import Settings
internal import Testing

@testable internal import Telemetry

/// The log's lines about one broker of several.
struct BrokerWatchTests {
    private typealias Broker = BrokerFigures.Broker

    private static func brokers(
        _ second: Broker,
        _ first: Broker = Broker(id: 1, isUp: true, attempts: 1)
    ) -> [String: Broker] {
        ["b1:9092": first, "b2:9092": second]
    }

    private static let up = Broker(id: 2, isUp: true, attempts: 1)
    private static let away = Broker(id: 2, isUp: false, attempts: 4)

    @Test func `one broker of two that is away is one line with its name and the reason, its return another`() {
        var watch = BrokerWatch()
        let why = ConnectionWords("b2:9092/2: Connect to ipv4#10.0.0.2:9092 failed: Connection refused")
        #expect(watch.poll(Self.brokers(Self.up), why: nil, at: 0).isEmpty)
        #expect(watch.poll(Self.brokers(Self.away), why: why, at: 1_000).isEmpty)
        let lost = watch.poll(Self.brokers(Self.away), why: why, at: 4_000)
        #expect(lost.map(\.name) == [.brokerLost] && lost[0].level == .warning && lost[0].isFault)
        #expect(
            lost[0].message.hasPrefix("broker 2 (b2:9092) is away for 3 s: Connection refused; its partitions wait")
        )
        #expect(watch.poll(Self.brokers(Self.away), why: why, at: 90_000).isEmpty)
        let back = watch.poll(Self.brokers(Self.up), why: why, at: 91_000)
        #expect(back.map(\.name) == [.brokerBack] && back[0].message == "broker 2 (b2:9092) is back, after 90 s")
        #expect(watch.poll(Self.brokers(Self.up), why: why, at: 99_000).isEmpty)
    }

    @Test func `the fault of another broker is no reason`() {
        var watch = BrokerWatch()
        _ = watch.poll(Self.brokers(Self.away), why: nil, at: 0)
        let lost = watch.poll(Self.brokers(Self.away), why: ConnectionWords("b1:9092/1: Disconnected"), at: 3_000)
        #expect(lost.first?.message.hasPrefix("broker 2 (b2:9092) is away for 3 s; its partitions wait") == true)
    }

    @Test(arguments: [Broker(id: 2, isUp: false, attempts: 1), Broker(id: 2, isUp: false, attempts: 0)])
    private func `a connection that closes because nobody needs it is not reported`(idle: Broker) {
        var watch = BrokerWatch()
        _ = watch.poll(Self.brokers(Self.up), why: nil, at: 0)
        for second in 1...60 as ClosedRange<Int64> {
            #expect(watch.poll(Self.brokers(idle), why: nil, at: second * 1_000).isEmpty)
        }
    }

    @Test func `a broker that comes back at once is not reported`() {
        var watch = BrokerWatch()
        for second in 0..<60 as Range<Int64> {
            let broker = Broker(id: 2, isUp: second % 4 == 0, attempts: second)
            #expect(watch.poll(Self.brokers(broker), why: nil, at: second * 1_000).isEmpty)
        }
    }

    /// A new client counts its attempts from 0.
    @Test func `a loss after a client was replaced is reported too`() {
        var watch = BrokerWatch()
        _ = watch.poll(Self.brokers(Broker(id: 2, isUp: true, attempts: 900)), why: nil, at: 0)
        #expect(watch.poll(Self.brokers(Broker(id: 2, isUp: false, attempts: 1)), why: nil, at: 1_000).isEmpty)
        #expect(watch.poll(Self.brokers(Broker(id: 2, isUp: false, attempts: 2)), why: nil, at: 2_000).isEmpty)
        let lost = watch.poll(Self.brokers(Broker(id: 2, isUp: false, attempts: 3)), why: nil, at: 5_000)
        #expect(lost.map(\.name) == [.brokerLost])
    }

    private static func statistics(_ states: [Int: String]) -> [UInt8] {
        let brokers = states.sorted { $0.key < $1.key }.map { id, state in
            #""b\#(id):9092/\#(id)":{"nodeid":\#(id),"nodename":"b\#(id):9092","source":"learned","state":"\#(state)","#
                + #""connects":\#(state == "UP" ? 1 : 9)}"#
        }
        return Array("{\"brokers\":{\(brokers.joined(separator: ","))}}".utf8)
    }

    @Test func `each program's pages show what lasts, and its metrics each broker`() throws {
        var reporter = BrokerReporter(comfort: GatewayFacts.comfort)
        func poll(_ states: [Int: String], tokens: String? = nil, at now: Int64) -> [LogEvent] {
            reporter.poll((Self.statistics(states), nil), tokens: tokens, at: now)
        }
        #expect(poll([:], at: 0).isEmpty && reporter.troubles.isEmpty)
        #expect(poll([1: "UP", 2: "UP"], at: 1_000).isEmpty)
        for second in 2...6 as ClosedRange<Int64> { _ = poll([1: "UP", 2: "CONNECT"], at: second * 1_000) }
        #expect(reporter.troubles == ["broker 2 (b2:9092) is away"])
        // Not before its time.
        #expect(poll([1: "CONNECT", 2: "CONNECT"], at: 6_500).isEmpty)
        let lost = poll([1: "CONNECT", 2: "CONNECT"], at: 7_000)
        #expect(lost.map(\.name) == [.brokerLost] && lost[0].message.hasSuffix("calls get 503 until one is back"))
        #expect(reporter.troubles == ["no broker is connected"])
        let page = Readiness(state: .running, reason: nil, troubles: reporter.troubles).page
        #expect(
            String(decoding: page.body, as: UTF8.self)
                == #"{"state":"running","troubles":["no broker is connected"]}"# + "\n"
        )
        let monitor = GatewayMonitor(version: "1")
        #expect(monitor.poll((Self.statistics([1: "UP", 2: "CONNECT"]), nil), at: 0).isEmpty)
        let scrape = String(decoding: monitor.write(.text), as: UTF8.self)
        #expect(scrape.contains("attest_broker_up{broker=\"b2:9092\"} 0\n"))
        #expect(poll([1: "UP", 2: "UP"], at: 9_000).map(\.name) == [.brokerBack] && reporter.troubles.isEmpty)
        #expect(poll([1: "UP", 2: "UP"], tokens: "no token", at: 10_000).isEmpty)
        #expect(reporter.troubles == ["no token"])
    }

    @Test func `while all are away another line says so; who comes back later has a line of its own`() {
        var watch = BrokerWatch()
        let first = Broker(id: 1, isUp: false, attempts: 4)
        #expect(watch.poll(Self.brokers(Self.up), why: nil, at: 0).isEmpty)
        for second in 1...10 as ClosedRange<Int64> {
            #expect(watch.poll(Self.brokers(Self.away, first), why: nil, at: second * 1_000).isEmpty)
        }
        #expect(watch.poll(Self.brokers(Self.away), why: nil, at: 11_000).isEmpty)
        let back = watch.poll(Self.brokers(Self.up), why: nil, at: 21_000)
        #expect(back.map(\.message) == ["broker 2 (b2:9092) is back, after 20 s"])
    }

    @Test(
        arguments: [
            "b1:9092/1: Connect to ipv4#10.0.0.1:9092 failed: Connection refused (after 0ms in state CONNECT, 2 identical "
                + "error(s) suppressed)": ("b1:9092", "Connection refused"),
            "b1:9092/bootstrap: Disconnected (after 6596ms in state UP)": ("b1:9092", "Disconnected"),
            "GroupCoordinator: b1:9092: Connect to ipv4#10.0.0.1:9092 failed: Connection refused (after 0ms in state "
                + "CONNECT)": ("b1:9092", "Connection refused"),
            "GroupCoordinator: SASL authentication error: no": ("GroupCoordinator", "SASL authentication error: no"),
            "1/1 brokers are down": (nil, "1/1 brokers are down"), "": (nil, ""),
            "no broker: here": (nil, "no broker: here"),
            "the broker's certificate has expired": (nil, "the broker's certificate has expired"),
        ] as [String: (String?, String)]
    )
    func `the library's words of a connection are taken apart`(message: String, parts: (String?, String)) {
        let words = ConnectionWords(message)
        #expect((words.broker, words.reason) == parts)
    }
}
