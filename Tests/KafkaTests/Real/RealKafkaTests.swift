import Foundation
import Kafka
import Pipeline
import TestSupport
import Testing
import Worker

@Suite(
    .enabled(if: KafkaInstallation.found != nil, Comment(rawValue: KafkaInstallation.whyMissing)),
    .realKafka,
    .serialized,
    .timeLimit(.minutes(2))
)
struct RealKafkaTests {
    @Test func `six topics are created as the worker needs them`() throws {
        let fixture = try RealFixture("create")
        #expect(try fixture.findings().map(\.severity) == [.problem])
        let report = try fixture.create()
        #expect(report.allMatch)
        #expect(report.lines == fixture.names.all.map { "created \($0), 3 partitions" })
        #expect(try fixture.findings() == [])
        let topics = try Admin(KafkaProperties(fixture.properties)).topics()
        for name in fixture.names.all {
            #expect(topics.contains(TopicDescription(name: name, partitions: 3, replication: 1)))
        }
        let again = try fixture.create()
        #expect(again.allMatch)
        #expect(again.lines == fixture.names.all.map { "exists \($0), as asked for" })
    }

    @Test func `topics that exist are compared and left as they are`() throws {
        let fixture = try RealFixture("compare")
        let admin = try Admin(KafkaProperties(fixture.properties))
        let ledger = try #require(fixture.names.outputs[.ledger])
        let created = try admin.createTopics([
            NewTopic(name: fixture.names.requests, partitions: 2), NewTopic(name: ledger, partitions: 3),
        ])
        #expect(created == [.created, .created])
        let report = try fixture.create()
        #expect(!report.allMatch)
        #expect(report.lines.count == 6)
        #expect(report.lines.first?.contains("with 2 partitions, not 3") ?? false)
        #expect(report.lines.first?.contains("message.timestamp.type=CreateTime") ?? false)
        #expect(report.lines.last?.contains("cleanup.policy=delete") ?? false)
        #expect(try admin.topics().first { $0.name == fixture.names.requests }?.partitions == 2)
        let findings = try fixture.findings()
        #expect(findings.filter { $0.severity == .problem }.count == 2)
        #expect(findings.filter { $0.severity == .warning }.count == 1)
    }

    @Test func `a topic that the broker refuses is named`() throws {
        let fixture = try RealFixture("refused")
        let report = try fixture.create(partitions: 1, replication: 3)
        #expect(!report.allMatch)
        #expect(report.lines.count == 6 && report.lines.allSatisfy { $0.contains("refused.") })
    }

    @Test func `requests carry the broker's time`() throws {
        let fixture = try RealFixture("times")
        _ = try fixture.create()
        let before = Int64(Date().timeIntervalSince1970 * 1_000)
        #expect(try LogDriver.publish(5, to: fixture.names.requests, fixture.properties).acknowledged == 5)
        let reader = try Consumer(KafkaProperties(fixture.properties), topic: fixture.names.requests)
        let starts = (0..<3 as Range<Int32>).map { PartitionOffset(partition: $0, offset: PartitionOffset.beginning) }
        try reader.assign(starts)
        for record in try reader.records(5) {
            #expect(record.timestampType == .logAppend)
            #expect(record.timestamp >= before - 1_000 && record.timestamp < before + 600_000)
        }
    }

    @Test func `a worker commits its batches, and a restarted one resumes`() throws {
        let fixture = try RealFixture("resume")
        _ = try fixture.create()
        #expect(try LogDriver.publish(300, to: fixture.names.requests, fixture.properties).isComplete)
        var seen: [InboundRecord] = []
        let log = try KafkaRecordLog(atLeastOnce: fixture.settings("one", .static))
        for _ in 0..<3 {
            let limits = BatchLimits(records: 50)
            var changes: [AssignmentChange] = []
            let batch = try LogDriver.records(50, from: log, limits: limits, changes: &changes)
            try log.begin()
            try log.append(batch.map { LogDriver.output(.results, for: $0) })
            try log.commit(LogDriver.positions(after: batch), of: Generation(0))
            seen += batch
        }
        // Polled and written, but not committed: it comes again.
        let uncommitted = try LogDriver.records(1, from: log)
        try log.begin()
        try log.append([LogDriver.output(.results, for: uncommitted[0])])
        try log.close()

        let next = try KafkaRecordLog(atLeastOnce: fixture.settings("one", .static))
        seen += try LogDriver.records(300 - seen.count, from: next)
        #expect(seen.count == 300)
        #expect(Set(seen.map { [Int64($0.partition), $0.offset] }).count == 300)
        let group = try Admin(KafkaProperties(fixture.properties)).group("resume")
        #expect(group.members == 1 && group.state == "Stable")
        try next.close()
    }

    @Test func `partitions move between two members, and no record is skipped`() throws {
        let fixture = try RealFixture("rebalance")
        _ = try fixture.create()
        #expect(try LogDriver.publish(90, to: fixture.names.requests, fixture.properties).isComplete)
        let first = try KafkaRecordLog(atLeastOnce: fixture.settings("one"))
        let batch = try LogDriver.records(90, from: first)
        let second = try KafkaRecordLog(atLeastOnce: fixture.settings("two"))
        // The group waits for the first member's answer, and what it had polled may still be committed.
        guard case .revoked(let revoked)? = try LogDriver.change(from: first) else {
            Issue.record("nothing was revoked")
            return
        }
        #expect(Set(revoked) == [0, 1, 2])
        let kept = batch.filter { $0.partition != 1 }
        try first.begin()
        try first.append(kept.map { LogDriver.output(.results, for: $0) })
        try first.commit(LogDriver.positions(after: kept), of: Generation(0))
        try first.releaseRevoked()
        let late = #expect(throws: KafkaFault.self) {
            try first.commit(LogDriver.positions(after: batch), of: Generation(0))
        }
        #expect(late?.isRecoverable == true)

        let again = try recordsOfBoth(first, second, count: batch.count - kept.count)
        #expect(again.allSatisfy { $0.partition == 1 })
        #expect(again.map(\.offset) == batch.filter { $0.partition == 1 }.map(\.offset))
        try first.close()
        try second.close()
        #expect(try Admin(KafkaProperties(fixture.properties)).group("rebalance").isEmpty)
    }

    /// Polls two members in turn until both have partitions and `count` records came.
    private func recordsOfBoth(
        _ first: KafkaRecordLog,
        _ second: KafkaRecordLog,
        count: Int
    ) throws -> [InboundRecord] {
        var records: [InboundRecord] = []
        var assigned: [Int: [Int32]] = [:]
        let deadline = ContinuousClock.now + .seconds(30)
        while records.count < count || assigned.count < 2, ContinuousClock.now < deadline {
            for (number, log) in [first, second].enumerated() {
                let round = try log.poll(BatchLimits(), waitMilliseconds: 50)
                if case .assigned(let partitions)? = round.change { assigned[number] = partitions }
                if round.change?.takesAway ?? false { try log.releaseRevoked() }
                for case .record(let record) in round.records { records.append(record) }
            }
        }
        #expect(assigned.values.map(\.count).sorted() == [1, 2])
        return records
    }

    @Test func `a member that was fenced by its namesake stops`() throws {
        let fixture = try RealFixture("fenced")
        _ = try fixture.create()
        #expect(try LogDriver.publish(3, to: fixture.names.requests, fixture.properties).isComplete)
        let first = try KafkaRecordLog(atLeastOnce: fixture.settings("same", .static))
        let records = try LogDriver.records(3, from: first)
        let second = try KafkaRecordLog(atLeastOnce: fixture.settings("same", .static))
        #expect(try LogDriver.records(3, from: second).count == 3)
        let fault = #expect(throws: KafkaFault.self) {
            try first.begin()
            try first.commit(LogDriver.positions(after: records), of: Generation(0))
            _ = try LogDriver.change(from: first)
        }
        #expect(fault?.isRecoverable == false)
        #expect(fault?.description.contains("FENCED") ?? false, "\(String(describing: fault))")
        try second.close()
    }
}
