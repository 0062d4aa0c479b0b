internal import Settings
internal import Testing

@testable internal import Study
@testable internal import Telemetry

@Suite("top: the screen")
struct TopScreenTests {
    private static let time: Int64 = 1_795_751_424_000

    private static func lines(_ instances: [TopInstance], _ columns: Int, _ rows: Int?) -> [String] {
        TopScreen.lines(instances, columns: columns, rows: rows, at: time)
    }

    private static func text(_ columns: Int, _ rows: Int?) -> String {
        lines(TopSamples.all, columns, rows).joined(separator: "\n")
    }

    @Test(arguments: [(80, 24), (200, 60), (40, 10), (20, 5), (80, 1), (1, 1)])
    func `no line is longer than the screen is wide, and no more lines are there than it is high`(
        columns: Int,
        rows: Int
    ) {
        let many = TopSamples.all + (0..<40).map { TopSamples.worker("host-\($0).example.com:9464", TopSamples.held) }
        for instances in [[], TopSamples.all, many, many.map { TopSamples.silent($0.address) }] {
            let lines = Self.lines(instances, columns, rows)
            #expect(lines.count <= rows && lines.allSatisfy { $0.count <= columns }, "\(lines)")
            #expect(lines.first?.hasPrefix(String("attest-worker top".prefix(columns - 1))) ?? false)
        }
    }

    @Test func `a small screen has what is wrong first, whole and with its command, then the instances`() {
        let text = Self.text(80, 24)
        #expect(text.contains("3 of 4 instances answering"))
        #expect(text.contains("! worker-3.example.com:9464 does not answer: Couldn't connect to server"))
        let words = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        #expect(words.contains("worker-2.example.com:9464: partition 3 is held: \(TopSamples.hold)"), "\(text)")
        #expect(text.contains("gateway-1:9465 is waiting for broker: no broker is connected"))
        #expect(text.ranges(of: "no broker is connected").count == 1, "a reason is not told again as a trouble")
        for row in ["worker-1.example.com:9464", "gateway-1:9465 ", "verifyAssertion"] { #expect(text.contains(row)) }
        let small = Self.text(80, 6)
        #expect(small.hasSuffix("\n… 4 lines more"), "what a part leaves out is counted:\n\(small)")
    }

    @Test func `a large screen has everything`() {
        let text = Self.text(200, 60)
        for part in [
            "Shop for iOS", "counter-not-greater", "RS256", "first_use", "3,456,789", "connected", "late",
            "open transactions of producers hold back 4 records", "last fault of worker-2.example.com:9464: ",
        ] { #expect(text.contains(part), "\(part) in\n\(text)") }
        #expect(!text.contains("exchangeAppAttestAttestation"), "series of 0 say nothing")
        #expect(!text.contains("more"))
        #expect(text == Self.text(200, nil))
    }

    /// The ledgers' row of a worker with these metrics, on a terminal of 80 columns.
    private static func ledgers(_ metrics: String) -> String? {
        var one = TopInstance("worker-9.example.com:9464")
        one.note(TopSamples.answer(TopSamples.worker(0, more: metrics), at: 10_000))
        let lines = lines(TopSamples.all + [one], 80, nil)
        guard let header = lines.firstIndex(where: { $0.hasPrefix("ledgers of ") }) else { return nil }
        #expect(lines[header].hasSuffix("  standby  behind  copies MiB  oldest copy"))
        #expect(Self.lines([one], 80, nil).contains { $0.hasPrefix("worker-9.example.com:9464  running ") })
        return lines[header + 1].split(separator: " ").joined(separator: " ")
    }

    @Test(arguments: [(-60, "0 s"), (0, "0 s"), (119, "119 s"), (150, "2 min"), (7_200, "2 h")])
    func `copies of ledgers have size and age where a worker keeps some`(age: Int64, text: String) {
        let made = Self.time / 1000 - age
        let copies = """
            attest_ledger_snapshot_bytes{partition="0"} 1048576
            attest_ledger_snapshot_bytes{partition="3"} 3355443
            attest_ledger_snapshot_timestamp_seconds{partition="0"} \(made).4
            attest_ledger_snapshot_timestamp_seconds{partition="3"} \(made + 90)
            """
        #expect(Self.ledgers(copies) == "worker-9.example.com:9464 - - 4.2 \(text)")
    }

    @Test func `a standby has its lag where a worker follows ledgers`() {
        #expect(Self.ledgers("") == nil)
        let lag = "attest_standby_lag_records{partition=\"1\"} 5\nattest_standby_lag_records{partition=\"2\"} 1200"
        #expect(Self.ledgers(lag) == "worker-9.example.com:9464 2 1,205 - -")
    }

    @Test func `on a narrow screen names give way, and figures stay whole`() {
        let text = Self.text(80, nil)
        let accepted = text.split(separator: "\n").first { $0.contains("accepted") }
        #expect(accepted?.hasSuffix("8,000") == true && text.contains("3,456,789"), "\(text)")
        let tables = text.split(separator: "\n").filter { $0.contains(" Shop for iOS ") || $0.hasPrefix("worker-") }
        #expect(tables.allSatisfy { $0.last != "…" }, "\(text)")
    }

    @Test func `what lasts of brokers, keys and quotas is among the troubles`() {
        let status = TopSamples.status(#","troubles":["broker 2 (b2:9092) is away"]"#)
        var instance = TopInstance("one:1")
        for second in 1...2 {
            let throttle = "attest_broker_throttle_seconds_total{broker=\"b1:9092\"} \(second)"
            let page = TopSamples.worker(second, more: throttle)
            instance.note(TopSamples.answer(page, status, at: Int64(second) * 1_000))
        }
        let lines = Self.lines([instance], 120, nil)
        #expect(lines.contains("! one:1: broker 2 (b2:9092) is away"), "\(lines)")
        #expect(lines.contains("! one:1: b1:9092 holds back answers, since a client exceeds its quota"), "\(lines)")
    }

    @Test func `a rate is of the last seconds, since a worker counts when it commits`() {
        var instance = TopInstance("one:1")
        for second in 1...9 {
            let page = TopSamples.worker(second - second % 3)
            instance.note(TopSamples.answer(page, at: Int64(second) * 1_000))
            if second > 3 { #expect(instance.rate(.requests).map { $0 > 500 } == true, "\(second)") }
        }
    }

    @Test func `rates are of the time between two answers, summed over instances`() {
        let text = Self.text(200, 60)
        // 1,500 and 2.5 a second, of two workers.
        let accepted = text.split(separator: "\n").first { $0.contains("accepted") }
        #expect(accepted?.contains("3,000") == true && accepted?.contains("8,000") == true, "\(text)")
        let refused = text.split(separator: "\n").first { $0.contains("counter-not-greater") }
        #expect(refused?.contains("5.0") == true, "\(text)")
    }

    @Test func `no rate is made of one answer, of a process that began anew, or of a count that fell`() {
        var instance = TopInstance("one:1")
        instance.note(TopSamples.answer(TopSamples.worker(5), at: 1_000))
        #expect(instance.rate(.requests) == nil)
        instance.note(TopSamples.answer(TopSamples.worker(6), at: 2_000))
        #expect(instance.rate(.requests).map { $0 > 1_500 } == true)
        instance.note(TopSamples.answer(TopSamples.worker(9, start: 2_000), at: 3_000))
        #expect(instance.rate(.requests) == nil)
        instance.note(TopSamples.answer(TopSamples.worker(1, start: 2_000), at: 4_000))
        let labels = ["app": "a", "verb": "verifyAssertion", "verdict": "accepted"]
        #expect(instance.rate(.requests, of: labels) == nil)
        instance.note(fault: "gone")
        #expect(instance.sum(.requests) == nil, "old figures are not shown as new")
    }

    @Test func `what an instance says neither moves the cursor nor adds a line`() {
        let bad = "\\u001b[2J\\u202e\\n"
        let status =
            #"{"reason":"r\#(bad)","apps":[{"app":"a","name":"n\#(bad)"}],"#
            + #""partitions":[{"partition":1,"hold":"h\#(bad)"}],"lastFault":{"at":"x\#(bad)","message":"m\#(bad)"}}"#
        let series =
            "attest_requests_total{app=\"\u{1B}[2J\u{202E}\",verb=\"v\\n\",verdict=\"\\\"\"} 7\n"
            + "attest_state{state=\"\u{9B}2J\"} 1"
        var instance = TopInstance("one:1")
        instance.note(TopSamples.answer(TopSamples.worker(1, more: series), status, at: 1))
        let lines = Self.lines([instance], 200, 60)
        #expect(lines.allSatisfy { $0.unicodeScalars.allSatisfy { $0.isVisible } }, "\(lines)")
        #expect(lines.contains { $0.contains("[U+001B][2J") })
    }

    @Test(
        arguments: [
            "", "\n\n", "attest_state", "attest_state{", "attest_state{state=", "attest_state{state=\"x", "{}", " 1",
            "attest_state{state=\"x\"} NaN", "attest_state{state=\"x\"} 1e999", "attest_lanes x", "attest_lanes{} ",
            "attest_state{=\"\"}1", "attest_state{a=\"\\",
        ]
    )
    func `a page that is no scrape is none`(page: String) {
        let scrape = Scrape(Array(page.utf8))
        #expect(scrape.sum(.state) == nil && scrape.sum(.lanes) == nil)
        let status = ShownStatus(status: Array(page.utf8))
        #expect(status.held.isEmpty && status.reason == nil && status.names.isEmpty)
    }

    @Test func `a scrape's labels are read with their escapes, with and without them`() {
        let page = #"attest_requests_total{app="a\"b\\c\nd",verb="v",} 3"# + "\nattest_lanes 8\nattest_lanes_other 9\n"
        let scrape = Scrape(Array(page.utf8))
        #expect(scrape.series(.requests) == [["app": "a\"b\\c\nd", "verb": "v"]: 3])
        #expect(scrape.sum(.lanes) == 8)
    }

    @Test(arguments: TopFamily.allCases)
    func `each family that is shown is one that a program serves`(family: TopFamily) {
        #expect(MetricFamily.documented.contains { $0.name == family.rawValue })
    }
}
