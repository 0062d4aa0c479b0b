internal import AppCheck
internal import JSON
internal import Pipeline
internal import Streams
internal import TestKit
internal import Testing

@testable internal import Reports

@Suite("risk")
struct RiskCommandTests {
    private static func event(
        _ device: Int,
        _ metric: Int,
        day: Int,
        environment: String = "production",
        app: String = ExchangeKit.name
    ) -> [UInt8] {
        let tag = String(UInt64(device) + 0x1000_0000_0000_0000, radix: 16)
        return Array(
            """
            {"event":"AppAttestRisk","app":"\(app)","method":"verifyReceipt","requestId":"r","limitedUse":false,\
            "device":"\(tag)","metric":\(metric),"environment":"\(environment)",\
            "at":"2026-11-\(day < 10 ? "0" : "")\(day)T12:00:00.000Z"}
            """.utf8
        )
    }

    private static func report(
        _ events: [[UInt8]],
        above: UInt16? = nil,
        limit: UInt16? = nil
    ) throws -> RiskReport {
        let registry = try ExchangeKit.registry { $0.risk.above = above }
        var report = RiskReport(registry, limit: limit)
        for event in events { report.add(event) }
        return report
    }

    @Test func `a device counts once with its newest metric, whatever the order of events`() throws {
        let events = [
            Self.event(1, 2, day: 20), Self.event(1, 9, day: 28), Self.event(1, 3, day: 24), Self.event(2, 1, day: 28),
            Self.event(3, 20, day: 25), Self.event(3, 4, day: 27),
        ]
        for events in [events, events.reversed()] {
            let section = try #require(try Self.report(events).sections.first)
            #expect(section.now.counts == [1, 0, 0, 1, 0, 1, 0, 0, 0])
            #expect(section.now.total == 3 && section.now.above == 1 && section.limit == 5)
            // A week before the 28th only the first device had one.
            #expect(section.before.counts == [0, 1, 0, 0, 0, 0, 0, 0, 0])
            #expect(section.highest.map(\.metric) == [9, 4, 1] && section.highest.map(\.before) == [2, nil, nil])
            #expect(section.highest.first?.name == "1000000000000001")
        }
    }

    @Test(arguments: [(30, true), (31, false)])
    func `a metric counts for 30 days before the newest event`(days: Int, counts: Bool) throws {
        var late = String(decoding: Self.event(2, 1, day: 1), as: UTF8.self)
        late = late.replacing("2026-11-01", with: days == 30 ? "2026-12-01" : "2026-12-02")
        let section = try #require(try Self.report([Self.event(1, 7, day: 1), Array(late.utf8)]).sections.first)
        #expect(section.now.total == (counts ? 2 : 1))
        #expect(section.before.total == 1, "a week before it still counted")
    }

    @Test(arguments: [(nil, nil, 5), (nil, 8, 8), (2, 8, 2), (2, nil, 2)] as [(UInt16?, UInt16?, UInt16)])
    func `the limit is the app's, else the option's, else 5, and equal to it is not above`(
        above: UInt16?,
        option: UInt16?,
        limit: UInt16
    ) throws {
        let events = [Self.event(1, Int(limit), day: 20), Self.event(2, Int(limit) + 1, day: 20)]
        let section = try #require(try Self.report(events, above: above, limit: option).sections.first)
        #expect(section.limit == limit && section.now.above == 1)
    }

    @Test func `environments stand apart, and other events are no metrics`() throws {
        let events = [
            Self.event(1, 1, day: 20), Self.event(1, 60, day: 20, environment: "development"), MadeEvent().value,
            Array("{}".utf8),
        ]
        let report = try Self.report(events)
        #expect(report.sections.map(\.name) == [ExchangeKit.name, ExchangeKit.name + " (development)"])
        #expect(report.sections.map { $0.now.total } == [1, 1])
        #expect(report.events == 2 && report.others == 1 && report.unreadable == 1)
    }

    @Test(arguments: ["metric\":-1", "metric\":65536", "metric\":\"1\"", "device\":\"x"])
    func `an event without a readable metric or device is left out`(fault: String) throws {
        let whole = String(decoding: Self.event(1, 1, day: 20), as: UTF8.self)
        let damaged =
            fault.hasPrefix("device")
            ? whole.replacing("device\":\"1", with: fault) : whole.replacing("metric\":1", with: fault)
        #expect(damaged != whole)
        let report = try Self.report([Array(damaged.utf8)])
        #expect(report.unreadable == 1 && report.sections.isEmpty)
    }

    // MARK: The command

    private func directory(_ events: [[UInt8]]) throws -> KeyDirectory {
        let directory = try KeyDirectory(app: #""risk":{"above":3}"#)
        let records = events.enumerated().map { offset, event in
            InboundRecord(topic: "e", partition: 0, offset: Int64(offset), timestamp: 0, key: nil, value: event)
        }
        try directory.write("events", CaptureCodec.capture(records))
        return directory
    }

    private func run(_ directory: KeyDirectory, _ more: String...) -> (code: Int32, transcript: Transcript) {
        Transcript.run(["risk", "--config", directory.path, "--input", directory.file("events")] + more)
    }

    private static let events =
        (1...400).map { event($0, 1 + $0 % 3, day: 10, app: KeyDirectory.app) }
        + [event(1, 60, day: 20, app: KeyDirectory.app)]

    @Test func `the text fits 80 columns and names distribution, share, change and the highest keys`() throws {
        let (code, transcript) = run(try directory(Self.events))
        #expect(code == 0)
        let lines = transcript.output.split(separator: "\n")
        #expect(lines.allSatisfy { $0.count <= 80 }, "\(transcript.output)")
        #expect(lines.first.map(String.init) == KeyDirectory.app)
        #expect(transcript.output.contains("400 keys, 1 above 3: 0.25 %, 0 % a week before"))
        #expect(transcript.output.contains("over 50"))
        #expect(transcript.output.contains("1000000000000001      60              2  2026-11-20 12:00"))
    }

    @Test func `JSON and page tell the same, and a rollout ignores the metrics`() throws {
        let directory = try directory(Self.events)
        let (code, transcript) = run(directory, "--json", "--report", directory.file("page.html"))
        #expect(code == 0)
        let root = try transcript.json
        let app = try #require(root["apps"]?.elements.first)
        #expect(app["above"]?.integer == 3 && app["now"]?["above"]?.integer == 1)
        #expect(app["now"]?["devices"]?.integer == 400 && app["weekBefore"]?["devices"]?.integer == 400)
        #expect(app["highest"]?.elements.count == 10)
        let page = try directory.text("page.html")
        #expect(page.contains("<span>Above 3</span><b>1<") && page.contains("1000000000000001"))
        let rollout = Transcript.run(["rollout", "--config", directory.path, "--input", directory.file("events")])
        #expect(rollout.0 == 0 && !rollout.1.error.contains("not events"))
    }

    @Test func `a file without an event ends with 1`() throws { #expect(run(try directory([])).code == 1) }
}
