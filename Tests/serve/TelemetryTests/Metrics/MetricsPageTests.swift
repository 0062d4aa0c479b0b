import AppAttest
import AppCheck
import Foundation
import Member
import Pipeline
import TestKit
import Testing

@testable import Telemetry

@Suite("A scrape of a worker")
struct MetricsPageTests {
    private static func text(_ snapshot: WorkerSnapshot, _ format: Exposition.Format = .text) -> String {
        String(decoding: MetricsPage.write(snapshot, format), as: UTF8.self)
    }

    private static let full = SnapshotSamples.full(apps: 3, partitions: 10, reasons: [.tooOld, .object(.flags)])

    @Test(arguments: [Exposition.Format.text, .openMetrics])
    func `every family is there, and neither it nor a series stands twice`(format: Exposition.Format) {
        let lines = Self.text(Self.full, format).split(separator: "\n")
        let names = lines.filter { $0.hasPrefix("# TYPE ") }.map { String($0.split(separator: " ")[2]) }
        let declared = MetricFamily.all.map { format == .openMetrics ? $0.base : $0.name }
        #expect(Set(names).count == names.count && names.sorted() == declared.sorted())
        let series = lines.filter { !$0.hasPrefix("#") }.map { $0[..<($0.lastIndex(of: " ") ?? $0.endIndex)] }
        #expect(Set(series.map(Array.init)).count == series.count)
    }

    @Test func `keys that have ended are counted by their app's id`() {
        let text = Self.text(Self.full)
        for line in [
            #"attest_keys_expired_total{app="1:123456789012:ios:10000000000000"} 5"#,
            #"attest_keys_expired_total{app="unknown"} 2"#,
            #"attest_ledger_snapshot_timestamp_seconds{partition="3"} 1790000000.123"#,
        ] { #expect(text.contains(line + "\n"), "\(line)") }
    }

    @Test func `counters that alerts watch are 0 before their first event`() {
        var snapshot = WorkerSnapshot()
        snapshot.apps = ["one"]
        let lines = Self.text(snapshot).split(separator: "\n")
        for series in [
            #"attest_requests_total{app="one",verb="verifyAssertion",verdict="accepted"} 0"#,
            #"attest_requests_total{app="one",verb="exchangeAppAttestAssertion",verdict="deferred",reason="no-active-key"} 0"#,
            #"attest_requests_total{app="unknown",verb="verifyAppCheckToken",verdict="accepted"} 0"#,
            #"attest_duplicate_requests_total{verb="verifyAssertion"} 0"#,
            #"attest_dead_letters_total{reason="internal"} 0"#,
            #"attest_aborts_total{cause="broker"} 0"#, #"attest_aborts_total{cause="record"} 0"#,
            #"attest_engine_disagreements_total{curve="P-256"} 0"#, #"attest_records_lost_total{cause="retention"} 0"#,
            #"attest_rebalances_total{kind="lost"} 0"#, "attest_commits_total 0", #"attest_state{state="starting"} 1"#,
        ] { #expect(lines.contains(Substring(series)), "\(series)") }
    }

    @Test func `what is not known is not written as 0`() {
        let text = Self.text(WorkerSnapshot())
        for name in [
            "attest_lanes", "attest_assigned_partitions", "attest_consumer_lag_records", "attest_broker_up",
            "attest_clock_offset_seconds", "attest_breaker_open",
        ] { #expect(!text.contains(name), "\(name)") }
        // Partition 7's end is not known.
        #expect(!Self.text(Self.full).contains(#"attest_consumer_lag_records{partition="7"}"#))
        #expect(!Self.text(Self.full).contains(#"attest_partition_unstable_records{partition="7"}"#))
    }

    @Test func `the library's statistics give brokers and lag`() {
        var snapshot = Self.full
        (snapshot.members[0].committed[0], snapshot.members[0].positions[0]) = (100, 100)
        let lines = Self.text(snapshot).split(separator: "\n")
        #expect(lines.contains(#"attest_consumer_lag_records{partition="0"} 21"#))
        #expect(lines.contains(#"attest_partition_unstable_records{partition="0"} 1"#))
        #expect(
            lines.filter { $0.hasPrefix("attest_broker_up{") } == [
                #"attest_broker_up{broker="b1:9092"} 1"#, #"attest_broker_up{broker="b2:9092"} 0"#,
            ]
        )
        #expect(lines.contains(#"attest_broker_errors_total{code="_TRANSPORT"} 3"#))
        #expect(lines.contains(#"attest_broker_throttle_seconds_total{broker="b1:9092"} 1.5"#))
        (snapshot.members[0].committed[0], snapshot.members[0].positions[0]) = (nil, nil)
        // Nothing was committed: everything from the beginning on waits.
        #expect(Self.text(snapshot).contains("attest_consumer_lag_records{partition=\"0\"} 116\n"))
        #expect(BrokerFigures([Array("{".utf8), Array("[]".utf8), []], topic: "requests").brokers.isEmpty)
    }

    @Test func `risk metrics are a histogram by app, and nothing where no app keeps receipts`() {
        var (snapshot, tally, counts) = (WorkerSnapshot(), AnswerTally(), AnswerCounts())
        let places = tally.places(of: ["one", "two"])
        func add(_ event: AnswerCounts.Event, _ count: Int, app: Int32 = 0) {
            counts.add(AnswerCounts.Key(app: app, verb: .verifyReceipt, event: event), count)
        }
        add(.risk(bucket: 0), 3)
        add(.risk(bucket: 3), 2)
        add(.risk(bucket: 8), 1)
        add(.riskSum, 113)
        add(.risk(bucket: 1), 1, app: 1)
        add(.riskSum, 2, app: 1)
        #expect(!Self.text(snapshot).contains("attest_risk_metric"))
        tally.add(counts, places)
        snapshot.tally.answers = tally
        let lines = Self.text(snapshot).split(separator: "\n").filter { $0.hasPrefix("attest_risk_metric") }
        let bounds = [
            ("1.0", 3), ("2.0", 3), ("3.0", 3), ("5.0", 5), ("8.0", 5), ("13.0", 5), ("20.0", 5), ("50.0", 5),
        ]
        let buckets = (bounds + [("+Inf", 6)]).map { #"attest_risk_metric_bucket{app="one",le="\#($0.0)"} \#($0.1)"# }
        let sums = [#"attest_risk_metric_sum{app="one"} 113.0"#, #"attest_risk_metric_count{app="one"} 6"#]
        #expect(lines.prefix(11).map(String.init) == buckets + sums)
        #expect(lines.last == #"attest_risk_metric_count{app="two"} 1"#)
    }

    @Test func `one state is 1`() {
        for state in WorkerState.allCases {
            var snapshot = WorkerSnapshot()
            snapshot.state = state
            let ones = Self.text(snapshot).split(separator: "\n")
                .filter { $0.hasPrefix("attest_state{") && $0.hasSuffix(" 1") }
            #expect(ones == ["attest_state{state=\"\(state.rawValue)\"} 1"])
        }
    }

    @Test func `a page of 100 partitions and 50 apps is below 1 MB`() {
        let reasons: [Reason] = [
            .counterNotGreater, .unknownKey, .challengeExpired, .challengeConsumed, .artifactInvalid, .tooOld,
            .keyMismatch,
            .object(.signatureInvalid), .object(.appIDMismatch), .object(.nonceMismatch),
        ]
        let page = MetricsPage.write(SnapshotSamples.full(apps: 50, partitions: 100, reasons: reasons), .openMetrics)
        #expect(page.count < 1_000_000, "\(page.count) bytes")
    }

    @Test(.enabled(if: Promtool.path != nil, "promtool is not installed"))
    func `promtool finds nothing to say`() throws {
        let answer = try Promtool.check(MetricsPage.write(Self.full, .text))
        #expect(answer.code == 0 && answer.output.isEmpty, "\(answer.output)")
    }

    @Test(.enabled(if: PythonLab.python != nil, Comment(rawValue: PythonLab.whyMissing)))
    func `a strict parser of OpenMetrics reads every series`() throws {
        let page = MetricsPage.write(Self.full, .openMetrics)
        let count = String(decoding: page, as: UTF8.self).split(separator: "\n").count { !$0.hasPrefix("#") }
        let answer = try MetricsPython.parse(page)
        #expect(answer.code == 0, "\(answer.error)")
        #expect(answer.output == "\(count)\n")
    }
}
