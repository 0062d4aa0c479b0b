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

    /// A topic's setting, and how bad it is; nil = there is no finding.
    static let cases: [(String, String, String, TopicFinding.Severity?)] = [
        ("ledger", "delete.retention.ms", "86400000", nil),
        ("ledger", "delete.retention.ms", "86399999", .warning),
        ("ledger", "delete.retention.ms", "3599999", .problem),
        ("ledger", "min.cleanable.dirty.ratio", "0.5", nil),
        ("ledger", "min.cleanable.dirty.ratio", "0.9", .warning),
        ("ledger", "cleanup.policy", "compact,delete", .problem),
        ("ledger", "cleanup.policy", "delete", .problem),
        ("ledger", "cleanup.policy", "", .problem),
        ("ledger", "message.timestamp.type", "CreateTime", .warning),
        ("requests", "message.timestamp.type", "CreateTime", .warning),
        ("results", "cleanup.policy", "delete", nil),
        ("results", "cleanup.policy", "compact", .problem),
        ("requests", "cleanup.policy", "compact,delete", .problem),
        ("requests", "unclean.leader.election.enable", "true", .problem),
        ("ledger", "unclean.leader.election.enable", "true", .problem),
        ("ledger", "unclean.leader.election.enable", "false", nil),
        ("results", "min.insync.replicas", "2", nil),
        ("results", "min.insync.replicas", "1", .warning),
        ("results", "min.insync.replicas", "4", .problem),
        ("tokens", "retention.ms", "3600000", nil),
        ("tokens", "retention.ms", "86400001", .warning),
        ("tokens", "retention.ms", "-1", .warning),
        ("replies", "retention.ms", "3600000", nil),
        ("replies", "retention.ms", "3600001", .warning),
        ("replies", "retention.ms", "600000", nil),
        ("replies", "retention.ms", "-1", .warning),
        ("replies", "cleanup.policy", "compact", .problem),
        ("receipts", "cleanup.policy", "delete,compact", nil),
        ("receipts", "cleanup.policy", "compact", .problem),
        ("receipts", "cleanup.policy", "delete", .problem),
        ("receipts", "retention.ms", "2592000000", nil),
        ("receipts", "retention.ms", "-1", nil),
        ("receipts", "retention.ms", "2591999999", .warning),
        ("receipts", "max.compaction.lag.ms", "9223372036854775807", .warning),
        ("dead", "retention.ms", "604800000", nil),
        ("dead", "retention.ms", "-1", .warning),
        ("requests", "retention.ms", "604800000", nil),
        ("requests", "retention.ms", "-1", .warning),
        ("requests", "retention.ms", "3600000", .problem),
        ("dead", "max.message.bytes", "1048588", nil),
        ("dead", "max.message.bytes", "77824", .warning),
        ("dead", "max.message.bytes", "77823", .problem),
        ("results", "max.message.bytes", "1048588", nil),
        ("results", "max.message.bytes", "999999", .warning),
        ("results", "max.message.bytes", "117504", .warning),
        ("results", "max.message.bytes", "117503", .problem),
        ("tokens", "max.message.bytes", "700", .problem),
        ("events", "max.message.bytes", "700", .problem),
        ("ledger", "max.message.bytes", "700", .problem),
        ("requests", "max.message.bytes", "1000", nil),
    ]

    @Test(arguments: cases)
    func `a setting that loses data is a problem, others are warnings, and each names the fix`(
        topic: String,
        name: String,
        value: String,
        severity: TopicFinding.Severity?
    ) throws {
        let findings = Self.findings(topic, [name: value])
        #expect(findings.map(\.severity) == (severity.map { [$0] } ?? []))
        guard let message = findings.first?.message else { return }
        #expect(message.contains("\(name)=\(value)"), "\(message)")
        #expect(message.contains("set ") || message.contains("raise "), "\(message)")
        let isTooSmall = name == "max.message.bytes" && severity == .problem
        #expect(!isTooSmall || !message.contains("batch.size"), "\(message)")
        let isFatal = ["ledger cleanup.policy", "results min.insync.replicas"].contains("\(topic) \(name)")
        #expect(severity == .warning || findings.first?.endsRun == isFatal, "else it waits, and answers what fits")
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
