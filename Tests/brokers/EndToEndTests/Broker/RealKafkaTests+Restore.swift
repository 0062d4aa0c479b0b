import Broker
import BrokerKit
import ChaosKit
import Foundation
import Kafka
import KafkaKit
import KafkaPorts
import Settings
import Streams
import Testing

/// The restore of a member from the ledger topic when it is assigned partitions.
extension RealKafkaTests {
    private func words(_ records: [StoredRecord]?) -> [String: Int] {
        (records ?? []).reduce(into: [:]) { $0[String(decoding: $1.value ?? [], as: UTF8.self), default: 0] += 1 }
    }

    private func fixture(_ prefix: String) throws -> RealFixture {
        let fixture = try RealFixture(prefix)
        _ = try fixture.create()
        return fixture
    }

    @Test func `only the tail of a kept ledger is read`() throws {
        let fixture = try fixture("tail")
        #expect(try MemberDriver.publish(30, to: fixture.names.requests, fixture.properties).isComplete)
        let first = try MemberDriver(.exactlyOnce, fixture.settings("one"))
        let batch = try first.records(30)
        try first.commit(batch, batch.outputs(.results, .ledger))
        // Another member takes some partitions, writes something, and leaves.
        let second = try MemberDriver(.exactlyOnce, fixture.settings("two"))
        first.kept = [0, 1, 2]
        let isShared = try first.steps { _ in
            try second.step(waitMilliseconds: 20)
            return first.restored.count == 2 && second.restored.count == 1
        }
        try #require(isShared, "\(first.changes) \(second.changes)")
        guard case .assigned(let theirs)? = second.changes.last, case .assigned(let mine)? = first.changes.last else {
            Issue.record("nothing was assigned: \(first.changes) \(second.changes)")
            return
        }
        #expect(first.restored.last?.count == mine.count, "of its own commits only the last record of each ledger")
        #expect(second.restored.last?.count == batch.records.count { theirs.contains($0.partition) })
        #expect(try MemberDriver.publish(12, to: fixture.names.requests, fixture.properties).isComplete)
        let more = try second.gather {
            try first.step(waitMilliseconds: 20)
            return !$0.records.isEmpty
        }
        try second.commit(more, more.outputs(.results, .ledger))
        try second.member.close()
        #expect(try first.steps { _ in first.restored.count == 3 }, "\(first.changes)")
        #expect(first.restored.last?.count == 3 + more.records.count, "the last known records and what the other wrote")
        // A member that has kept nothing reads everything.
        let third = try MemberDriver(.exactlyOnce, fixture.settings("three"))
        try first.member.close()
        #expect(
            try third.steps { _ in third.restored.last?.count == 30 + more.records.count },
            "\(third.restored.map(\.count))"
        )
        try third.member.close()
    }

    @Test func `a restore ends although its ledger is recreated below the end that it reads up to`() throws {
        let fixture = try fixture("cut")
        let owner = try LedgerOwner("other", fixture)
        try owner.write(30, "first")
        try owner.commit()
        // The restore stands still before these.
        try owner.write(300, "open")
        let driver = try MemberDriver(.exactlyOnce, fixture.settings("one"))
        #expect(try driver.steps { _ in driver.readCount == 30 }, "\(driver.faults)")
        try RealClusterTrait.cluster?.deleteTopic(owner.topic)
        #expect(try fixture.create().lines.contains { $0.hasPrefix("created") })
        let next = try LedgerOwner("next", fixture)
        try next.write(60, "others")
        try next.commit()
        #expect(try driver.steps { _ in !driver.restored.isEmpty }, "\(driver.faults)")
        #expect(words(driver.restored.first) == ["others": 60])
        // A fetch before the topic has so many records again fails at once; else its end, asked for again, tells it.
        let tells = driver.member.troubles.contains { $0.isOffsetGone || $0.message.contains("when its restore began") }
        #expect(tells, "\(driver.member.troubles)")
        try driver.member.close()
        withExtendedLifetime(owner) {}
    }
}
