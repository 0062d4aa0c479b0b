import Broker
import BrokerKit
import ChaosKit
import Foundation
import Kafka
import KafkaKit
import KafkaPorts
import Log
import Settings
import Testing

@Suite(
    .brokerTests,
    .cluster(),
    .serialized
)
struct RealKafkaTests {
    @Test func `a reply goes to its own partition of a topic with its own number, together with the result`() throws {
        let fixture = try RealFixture("replies", hasReplies: true)
        let report = try fixture.create(replyPartitions: 2)
        #expect(report.allMatch && report.lines.last == "created replies.replies, 2 partitions")
        #expect(try fixture.findings() == [])
        #expect(try LogDriver.publish(30, to: fixture.names.requests, fixture.properties).isComplete)
        let driver = try LogDriver(.exactlyOnce, fixture.settings("one"))
        let batch = try driver.records(30)
        var replies = batch.outputs(.replies)
        for index in replies.indices { (replies[index].partition, replies[index].status) = (1, 403) }
        try driver.commit(batch, batch.outputs(.results) + replies)
        #expect(try fixture.values(of: .replies, partitions: 1) == [] && fixture.values(of: .results).count == 30)
        #expect(try Set(fixture.values(of: .replies, partitions: 2)).count == 30)
        try driver.log.close()
    }

    @Test func `existing topics are compared and not changed`() throws {
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
        #expect(findings.filter { $0.severity == .problem }.count == 2, "\(findings)")
        #expect(findings.filter { $0.severity == .warning }.count == 2, "\(findings)")
    }

    /// As when a broker has just come back and does not know all of its partitions yet.
    @Test func `a client asks again for a partition that did not exist before`() throws {
        let fixture = try RealFixture("again")
        let broker = try #require(RealClusterTrait.cluster)
        let topic = fixture.names.requests
        let properties = KafkaProperties(fixture.properties)
        #expect(try Admin(properties).createTopics([NewTopic(name: topic, partitions: 1)]) == [.created])
        let ends = try PartitionEnds(properties)
        let fault = #expect(throws: KafkaFault.self) { try ends.watermarks(of: topic, 1, timeoutMilliseconds: 5_000) }
        #expect(fault?.isMissingTopic == true, "\(String(describing: fault))")
        try broker.addPartitions(2, to: [topic])
        var marks: Watermarks?
        // The broker itself may need a moment.
        for _ in 0..<20 where marks == nil { marks = try? ends.watermarks(of: topic, 1, timeoutMilliseconds: 5_000) }
        #expect(marks == Watermarks(low: 0, high: 0))
    }

    @Test func `a topic that the broker refuses is named`() throws {
        let fixture = try RealFixture("refused")
        let report = try fixture.create(partitions: 1, replication: 3)
        #expect(!report.allMatch)
        #expect(report.lines.isEmpty)
        #expect(report.complaints.count == 6 && report.complaints.allSatisfy { $0.contains("refused.") })
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

    @Test(arguments: LogDelivery.allCases)
    func `a worker commits its batches, and a restarted one resumes`(delivery: LogDelivery) throws {
        let group = "resume-\(delivery)"
        let fixture = try RealFixture(group)
        _ = try fixture.create()
        #expect(try LogDriver.publish(300, to: fixture.names.requests, fixture.properties).isComplete)
        let driver = try LogDriver(delivery, fixture.settings("one", .static))
        var seen: [InboundRecord] = []
        for _ in 0..<3 {
            let batch = try driver.records(50, limits: BatchLimits(records: 50))
            try driver.commit(batch, batch.outputs(.results))
            seen += batch.records
        }
        // Rounds may be short, so that a batch holds more than requested.
        let committed = seen.map { "results \($0.partition)/\($0.offset)" }
        // Polled and written, but not committed: it comes again.
        let uncommitted = try driver.records(1)
        driver.fail(uncommitted, uncommitted.outputs(.results))
        try driver.log.close()

        let next = try LogDriver(delivery, fixture.settings("one", .static))
        seen += try next.records(300 - seen.count).records
        #expect(seen.count == 300)
        #expect(LogBatch(records: seen).places.count == 300)
        let members = try Admin(KafkaProperties(fixture.properties)).group(group)
        #expect(members.members == 1 && members.state == "Stable")
        try next.log.close()
        guard delivery == .exactlyOnce else { return }
        #expect(try fixture.values(of: .results).sorted() == committed.sorted())
    }

    @Test(arguments: LogDelivery.allCases)
    func `partitions move between two members, and no record is skipped`(delivery: LogDelivery) throws {
        let fixture = try RealFixture("rebalance-\(delivery)")
        _ = try fixture.create()
        #expect(try LogDriver.publish(90, to: fixture.names.requests, fixture.properties).isComplete)
        let first = try LogDriver(delivery, fixture.settings("one"))
        let batch = try first.records(90)
        let second = try LogDriver(delivery, fixture.settings("two"))
        // The group waits for the first member's answer, and what it had polled may still be committed.
        first.releases = false
        #expect(try first.steps { _ in first.changes.count > 1 })
        guard case .revoked(let revoked)? = first.changes.last else {
            Issue.record("nothing was revoked: \(first.changes)")
            return
        }
        #expect(Set(revoked) == [0, 1, 2])
        let kept = batch.filter { $0.partition != 1 }
        try first.commit(kept, kept.outputs(.results))
        try first.log.releaseRevoked()
        first.releases = true
        let late = #expect(throws: KafkaFault.self) { try first.commit(batch, batch.outputs(.results)) }
        #expect(late?.isRecoverable == true)
        try first.abort()

        let again = try recordsOfBoth(first, second, count: batch.records.count - kept.records.count)
        #expect(again.allSatisfy { $0.partition == 1 })
        #expect(again.map(\.offset) == batch.records.filter { $0.partition == 1 }.map(\.offset))
        try first.log.close()
        try second.log.close()
        #expect(try Admin(KafkaProperties(fixture.properties)).group("rebalance-\(delivery)").isEmpty)
    }

    /// Steps two members in turn until both have partitions and `count` records came.
    private func recordsOfBoth(_ first: LogDriver, _ second: LogDriver, count: Int) throws -> [InboundRecord] {
        var records: [InboundRecord] = []
        let deadline = ContinuousClock.now + .seconds(30)
        func assigned(_ driver: LogDriver) -> Int {
            if case .assigned(let partitions)? = driver.changes.last { partitions.count } else { 0 }
        }
        while records.count < count || assigned(first) + assigned(second) != 3, ContinuousClock.now < deadline {
            for driver in [first, second] { records += try driver.step(waitMilliseconds: 50).records }
        }
        #expect([assigned(first), assigned(second)].sorted() == [1, 2])
        return records
    }

    @Test func `of two workers with one name the older one ends with a line that names the remedy`() throws {
        let fixture = try RealFixture("fenced")
        _ = try fixture.create()
        let drivers = try (0..<2).map { _ in try LogDriver(.exactlyOnce, fixture.settings("same", .static)) }
        var ends: [KafkaFault] = []
        let deadline = ContinuousClock.now + .seconds(60)
        while ends.isEmpty, ContinuousClock.now < deadline {
            for driver in drivers {
                // Something to commit, again and again.
                _ = try LogDriver.publish(1, to: fixture.names.requests, fixture.properties)
                do {
                    let batch = try driver.step()
                    if !batch.records.isEmpty { try driver.commit(batch, batch.outputs(.results)) }
                } catch let fault as KafkaFault {
                    if fault.endsLoop { ends.append(fault) } else { try driver.abort() }
                }
            }
        }
        let end = try #require(ends.first, "they fence each other without end: \(drivers.map(\.faults))")
        #expect(end.message.contains("fenced-same") && end.message.contains("--instance"), "\(end)")
        for driver in drivers { try? driver.log.close() }
        // A moment with two owners doubled no result.
        let results = try fixture.values(of: .results)
        #expect(Set(results).count == results.count)
    }
}
