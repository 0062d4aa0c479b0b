import AppCheck
import BrokerKit
import Kafka
import KafkaPorts
import Pipeline
import Settings
import Testing

@testable import Broker

struct TopicSettingsTests {
    /// All that there are, the optional ones too.
    private static let names: TopicNames = {
        var names = TopicNames.ofTests
        (names.replies, names.receipts) = ("replies", "receipts")
        return names
    }()

    private static func findings(_ topic: String, _ settings: [String: String], replication: Int = 3) -> [TopicFinding]
    {
        var facts = TopicCheckTests.good()
        facts["replies"] = TopicFacts(partitions: 2, settings: nil)
        facts["receipts"] = TopicFacts(partitions: 6, settings: TopicCheckTests.receiptSettings)
        let merged = (facts[topic]?.settings ?? [:]).merging(settings) { $1 }
        facts[topic]?.settings = merged
        facts[topic]?.replication = replication
        return TopicCheck.judge(facts, names)
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let topic: String
        let setting: (name: String, value: String)
        /// nil = no finding.
        let severity: TopicFinding.Severity?
        var testDescription: String { "\(topic) \(setting.name)=\(setting.value)" }

        init(_ topic: String, _ name: String, _ value: String, _ severity: TopicFinding.Severity?) {
            (self.topic, setting, self.severity) = (topic, (name, value), severity)
        }
    }

    static let cases = [
        Case("ledger", "delete.retention.ms", "86400000", nil),
        Case("ledger", "delete.retention.ms", "86399999", .warning),
        Case("ledger", "delete.retention.ms", "3599999", .problem),
        Case("ledger", "min.cleanable.dirty.ratio", "0.5", nil),
        Case("ledger", "min.cleanable.dirty.ratio", "0.9", .warning),
        Case("ledger", "cleanup.policy", "compact,delete", .problem),
        Case("ledger", "cleanup.policy", "delete", .problem),
        Case("ledger", "cleanup.policy", "", .problem),
        Case("ledger", "message.timestamp.type", "CreateTime", .warning),
        Case("requests", "message.timestamp.type", "CreateTime", .warning),
        Case("results", "cleanup.policy", "delete", nil),
        Case("results", "cleanup.policy", "compact", .problem),
        Case("requests", "cleanup.policy", "compact,delete", .problem),
        Case("requests", "unclean.leader.election.enable", "true", .problem),
        Case("ledger", "unclean.leader.election.enable", "true", .problem),
        Case("ledger", "unclean.leader.election.enable", "false", nil),
        Case("results", "min.insync.replicas", "2", nil),
        Case("results", "min.insync.replicas", "1", .warning),
        Case("results", "min.insync.replicas", "4", .problem),
        Case("tokens", "retention.ms", "3600000", nil),
        Case("tokens", "retention.ms", "86400001", .warning),
        Case("tokens", "retention.ms", "-1", .warning),
        Case("replies", "retention.ms", "3600000", nil),
        Case("replies", "retention.ms", "3600001", .warning),
        Case("replies", "retention.ms", "600000", nil),
        Case("replies", "retention.ms", "-1", .warning),
        Case("replies", "cleanup.policy", "compact", .problem),
        Case("receipts", "cleanup.policy", "delete,compact", nil),
        Case("receipts", "cleanup.policy", "compact", .problem),
        Case("receipts", "cleanup.policy", "delete", .problem),
        Case("receipts", "retention.ms", "2592000000", nil),
        Case("receipts", "retention.ms", "-1", nil),
        Case("receipts", "retention.ms", "2591999999", .warning),
        Case("receipts", "max.compaction.lag.ms", "9223372036854775807", .warning),
        Case("dead", "retention.ms", "604800000", nil),
        Case("dead", "retention.ms", "-1", .warning),
        Case("requests", "retention.ms", "604800000", nil),
        Case("requests", "retention.ms", "-1", .warning),
        Case("requests", "retention.ms", "3600000", .problem),
        Case("dead", "max.message.bytes", "1048588", nil),
        Case("dead", "max.message.bytes", "77824", .warning),
        Case("dead", "max.message.bytes", "77823", .problem),
        Case("results", "max.message.bytes", "1048588", nil),
        Case("results", "max.message.bytes", "999999", .warning),
        Case("results", "max.message.bytes", "117504", .warning),
        Case("results", "max.message.bytes", "117503", .problem),
        Case("tokens", "max.message.bytes", "700", .problem),
        Case("events", "max.message.bytes", "700", .problem),
        Case("ledger", "max.message.bytes", "700", .problem),
        Case("requests", "max.message.bytes", "1000", nil),
    ]

    @Test(arguments: cases)
    func `a setting that loses data is a problem, others are warnings, and each names the fix`(_ item: Case) throws {
        let findings = Self.findings(item.topic, [item.setting.name: item.setting.value])
        #expect(findings.map(\.severity) == (item.severity.map { [$0] } ?? []))
        guard let message = findings.first?.message else { return }
        #expect(message.contains("\(item.setting.name)=\(item.setting.value)"), "\(message)")
        #expect(message.contains("set ") || message.contains("raise "), "\(message)")
        let isTooSmall = item.setting.name == "max.message.bytes" && item.severity == .problem
        #expect(!isTooSmall || !message.contains("batch.size"), "\(message)")
        let endingRun = ["ledger cleanup.policy", "results min.insync.replicas"]
        let isFatal = endingRun.contains { item.testDescription.hasPrefix($0) }
        #expect(item.severity == .warning || findings.first?.endsRun == isFatal, "else it waits, and answers what fits")
    }

    @Test func `topics that nobody could write to are not created, nor taken for created`() throws {
        let names = Self.names
        func plan(_ replication: Int?) -> [NewTopic] {
            TopicCreator.plan(names, partitions: 2, replication: replication)
        }
        let broker = ["min.insync.replicas": "2"]
        let refusal = try #require(TopicCreator.refusal(plan(1), broker))
        #expect(refusal.contains("min.insync.replicas=2 and 1 replica:") && refusal.contains("--replication"))
        for (replication, settings) in [(2, broker), (3, ["min.insync.replicas": "3"]), (1, [:]), (nil, broker)] {
            #expect(TopicCreator.refusal(plan(replication), settings) == nil)
        }
        #expect(TopicCreator.refusal([], broker) == nil, "all exist, and are compared")
        for (outcome, isComplaint) in [(TopicCreation.created, true), (.exists, false)] {
            for (replicas, isWritable) in [(1, false), (2, true)] {
                var report = TopicReport()
                let wanted = plan(nil)[0]
                let found = TopicDescription(name: wanted.name, partitions: 2, replication: replicas)
                let own = Dictionary(uniqueKeysWithValues: wanted.settings.map { ($0.name, $0.value) })
                report.add(wanted, outcome, found, own.merging(broker) { $1 })
                #expect(report.allMatch == isWritable)
                #expect(report.complaints.isEmpty == (isWritable || !isComplaint))
                let text = (report.lines + report.complaints).joined()
                #expect(text.contains("nothing can be written") == !isWritable, "\(text)")
            }
        }
    }

    @Test func `ledger segments that are never closed are a warning, unless they are small or short`() {
        let (bytes, time) = ("segment.bytes", "segment.ms")
        #expect(Self.findings("ledger", [bytes: "1073741824", time: "604800000"]).map(\.severity) == [.warning])
        #expect(Self.findings("ledger", [bytes: "67108864", time: "604800000"]).isEmpty)
        #expect(Self.findings("ledger", [bytes: "1073741824", time: "21600000"]).isEmpty)
    }

    @Test func `one or two replicas do not need a second one in sync`() {
        #expect(Self.findings("ledger", ["min.insync.replicas": "1"], replication: 1).isEmpty)
        #expect(Self.findings("ledger", ["min.insync.replicas": "1"], replication: 2).isEmpty)
        #expect(Self.findings("ledger", ["min.insync.replicas": "2"], replication: 1).map(\.severity) == [.problem])
    }

    @Test(arguments: [nil, 1, 2, 3] as [Int?])
    func `topics as created give no findings`(replication: Int?) {
        for topic in TopicCreator.plan(Self.names, partitions: 6, replication: replication) {
            let settings = Dictionary(uniqueKeysWithValues: topic.settings.map { ($0.name, $0.value) })
            #expect(Self.findings(topic.name, settings, replication: replication ?? 1) == [])
            #expect(settings["min.insync.replicas"] == (replication == 3 ? "2" : nil))
        }
    }

    @Test func `the settings that a ledger and secrets need are requested at creation`() throws {
        let plan = TopicCreator.plan(Self.names, partitions: 6, replication: 3)
        func settings(_ name: String) throws -> [String: String] {
            let topic = try #require(plan.first { $0.name == name })
            return Dictionary(uniqueKeysWithValues: topic.settings.map { ($0.name, $0.value) })
        }
        let ledger = try settings("ledger")
        for name in [
            "cleanup.policy", "segment.bytes", "segment.ms", "min.cleanable.dirty.ratio", "delete.retention.ms",
            "compression.type", "min.insync.replicas", "message.timestamp.type",
        ] { #expect(ledger[name] != nil, "\(name)") }
        #expect(try settings("tokens")["retention.ms"] == "3600000")
        #expect(try settings("dead")["retention.ms"] == "604800000")
        #expect(try settings("requests")["message.timestamp.type"] == "LogAppendTime")
    }

    /// An existing ledger keeps the writers' times, and create-topics is part of people's rollouts.
    @Test(arguments: [("ledger", "cleanup.policy"), ("requests", "message.timestamp.type"), ("results", "")])
    func `without one setting a topic is unusable, and create-topics compares that one`(topic: String, setting: String)
    {
        let wanted = TopicSettings.wanted(topic, Self.names, replication: 3)
        #expect(TopicSettings.essential(of: wanted).map(\.name) == (setting.isEmpty ? [] : [setting]))
    }

    @Test(
        arguments: [
            (["transaction.partition.verification.enable": "false"], nil, [.warning]),
            (["transaction.partition.verification.enable": "true"], nil, []),
            (["transaction.max.timeout.ms": "900000"], 900_000, []),
            (["transaction.max.timeout.ms": "900000"], 900_001, [.problem]),
            (["transaction.max.timeout.ms": "29999"], nil, [.problem]),
            (["transaction.max.timeout.ms": "30000"], nil, []), ([:], 900_001, []),
        ] as [([String: String], Int64?, [TopicFinding.Severity])]
    )
    func `the broker's settings are judged as far as it reports them`(
        settings: [String: String],
        timeout: Int64?,
        severities: [TopicFinding.Severity]
    ) {
        #expect(BrokerCheck.judge(settings, transactionTimeout: timeout).map(\.severity) == severities)
    }
}
