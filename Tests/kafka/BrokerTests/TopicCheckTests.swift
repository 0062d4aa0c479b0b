import BrokerKit
import Kafka
import KafkaPorts
import Pipeline
import Settings
import Streams
import Testing

@testable import Broker

struct TopicCheckTests {
    static let names = TopicNames.ofTests

    /// Six topics as they should be.
    static func good() -> [String: TopicFacts] {
        var facts: [String: TopicFacts] = [:]
        for name in names.all { facts[name] = TopicFacts(partitions: 6, settings: nil) }
        facts["ledger"]?.settings = ["cleanup.policy": "compact", "message.timestamp.type": "LogAppendTime"]
        facts["requests"]?.settings = ["message.timestamp.type": "LogAppendTime"]
        return facts
    }

    @Test func `six correct topics give no findings`() {
        #expect(TopicCheck.judge(Self.good(), Self.names) == [])
    }

    @Test(arguments: names.all)
    func `a missing topic is a problem, with the command that creates it`(name: String) {
        var facts = Self.good()
        facts[name] = nil
        let findings = TopicCheck.judge(facts, Self.names)
        #expect(findings.count == 1)
        #expect(findings.first?.severity == .problem)
        #expect(findings.first?.message.contains("no such topic: \(name);") ?? false)
        #expect(findings.first?.message.contains("--partitions \(name == "requests" ? "N" : "6")") ?? false)
    }

    @Test(arguments: names.all, [1, 5, 7])
    func `a topic with another number of partitions is a problem`(name: String, partitions: Int) {
        var facts = Self.good()
        facts[name]?.partitions = partitions
        let findings = TopicCheck.judge(facts, Self.names)
        #expect(findings.map(\.severity) == [.problem])
        #expect(findings.first?.message.contains("\(name) has \(partitions)") ?? false)
    }

    @Test(arguments: names.all, [1, 5, 7])
    func `a topic whose partition count changed since the start is reported`(name: String, partitions: Int) {
        var counts = Dictionary(uniqueKeysWithValues: Self.names.all.map { ($0, 6) })
        #expect(TopicCheck.changed(counts, Self.names, from: 6) == nil)
        counts[name] = partitions
        let start =
            "topic \(name) has \(partitions) \(partitions == 1 ? "partition" : "partitions"), but the worker was started with 6: "
        #expect(TopicCheck.changed(counts, Self.names, from: 6)?.hasPrefix(start) == true)
        counts[name] = nil
        #expect(TopicCheck.changed(counts, Self.names, from: 6) == nil, "a broker that starts may not know it yet")
    }

    private static var withReplies: TopicNames {
        var topics = names
        topics.replies = "replies"
        return topics
    }

    @Test func `the replies topic has a number of partitions of its own, and must exist`() {
        var facts = Self.good()
        let missing = TopicCheck.judge(facts, Self.withReplies)
        #expect(missing.map(\.severity) == [.problem])
        #expect(missing.first?.message.hasPrefix("no such topic: replies;") ?? false)
        facts["replies"] = TopicFacts(partitions: 2, settings: nil)
        #expect(TopicCheck.judge(facts, Self.withReplies) == [])
        let counts = ["replies": 3, "results": 6]
        #expect(TopicCheck.changed(counts, Self.withReplies, from: 6) == nil)
        #expect(TopicCheck.changed(["replies": 6, "results": 3], Self.withReplies, from: 6) != nil)
    }

    @Test func `the replies topic is created with partitions of its own, and expires in minutes`() throws {
        let plan = TopicCreator.plan(Self.withReplies, partitions: 6, replyPartitions: 2, replication: nil)
        #expect(plan.count == 7 && plan.dropLast().allSatisfy { $0.partitions == 6 })
        let replies = try #require(plan.last)
        #expect(replies.name == "replies" && replies.partitions == 2)
        #expect(
            replies.settings.map(\.name) == ["cleanup.policy", "retention.ms", "segment.ms"]
                && replies.settings.map(\.value) == ["delete", "600000", "600000"]
        )
        #expect(TopicCreator.plan(Self.withReplies, partitions: 6, replication: nil).last?.partitions == 8)
        #expect(TopicCreator.plan(Self.names, partitions: 6, replication: nil).count == 6)
    }

    private static var withReceipts: TopicNames {
        var topics = names
        topics.receipts = "receipts"
        return topics
    }

    @Test func `the receipts topic must exist, with the number of partitions of the six`() {
        var facts = Self.good()
        #expect(
            TopicCheck.judge(facts, Self.withReceipts).first?.message.hasPrefix("no such topic: receipts;") ?? false
        )
        facts["receipts"] = TopicFacts(partitions: 6, settings: nil)
        #expect(TopicCheck.judge(facts, Self.withReceipts) == [])
        facts["receipts"] = TopicFacts(partitions: 5, settings: nil)
        let unequal = TopicCheck.judge(facts, Self.withReceipts)
        #expect(unequal.map(\.severity) == [.problem])
        #expect(unequal.first?.message.contains("receipts has 5") ?? false)
        #expect(unequal.first?.message.contains("all six topics and the receipts need") ?? false)
        #expect(TopicCheck.changed(["receipts": 7], Self.withReceipts, from: 6) != nil)
    }

    static let receiptSettings = [
        "cleanup.policy": "compact,delete", "retention.ms": "7776000000", "max.compaction.lag.ms": "43200000",
    ]

    @Test func `the receipts topic is created aligned, compacted, and for 90 days`() throws {
        let plan = TopicCreator.plan(Self.withReceipts, partitions: 6, replication: nil)
        let receipts = try #require(plan.last)
        #expect(plan.count == 7 && receipts.name == "receipts" && receipts.partitions == 6)
        let settings = Dictionary(uniqueKeysWithValues: receipts.settings.map { ($0.name, $0.value) })
        #expect(settings.merging(Self.receiptSettings) { $1 } == settings)
    }

    @Test func `unreadable settings are not judged`() {
        var facts = Self.good()
        facts["ledger"]?.settings = nil
        facts["requests"]?.settings = nil
        #expect(TopicCheck.judge(facts, Self.names) == [])
    }

    @Test func `one name for two purposes is a problem`() {
        var names = Self.names
        names.outputs[.events] = "results"
        let findings = TopicCheck.judge(Self.good(), names)
        #expect(findings.map(\.severity) == [.problem])
        #expect(findings.first?.message.contains("results is named for more than one purpose") ?? false)
    }

    private static func settings(_ more: [(String, String)] = [], group: String = "g") -> BrokerSettings {
        let properties = [("group.id", group)] + more
        return BrokerSettings(properties: properties, topics: names, instanceName: "i", membership: .static)
    }

    @Test func `a group, an instance and every output need names`() {
        var settings = Self.settings()
        #expect(throws: Never.self) { try settings.validate() }
        settings.topics.outputs[.deadLetters] = nil
        #expect(throws: KafkaFault.self) { try settings.validate() }
        #expect(throws: KafkaFault.self) { try Self.settings(group: "").validate() }
        settings = Self.settings()
        settings.instanceName = ""
        #expect(throws: KafkaFault.self) { try settings.validate() }
    }

    @Test func `a static member id is made of the group's and the instance's name, a dynamic member has none`() throws {
        var settings = Self.settings([("group.instance.id", "x"), ("auto.offset.reset", "latest")])
        #expect(try settings.consumerProperties()["group.instance.id"] == "g-i")
        // A deleted offset is an error, and the positions decide where reading continues.
        #expect(try settings.consumerProperties()["auto.offset.reset"] == "error")
        settings.membership = .dynamic
        #expect(try settings.consumerProperties()["group.instance.id"] == nil)
    }

    @Test func `an output has the transaction timeout, or half of the maximum poll interval`() throws {
        var settings = Self.settings()
        #expect(try settings.outputMilliseconds() == 30_000)
        settings.properties += [("transaction.timeout.ms", "20000")]
        #expect(try settings.outputMilliseconds() == 20_000)
        settings.properties += [("max.poll.interval.ms", "30000")]
        #expect(try settings.outputMilliseconds() == 15_000)
        settings.commitMilliseconds = 700
        #expect(try settings.outputMilliseconds() == 700)
    }
}
