import Broker
import BrokerKit
import Settings
import Streams
import TestKit
import Testing

extension SmokeTests {
    private func fixture(_ prefix: String) throws -> RealFixture {
        let fixture = try RealFixture(prefix, sessionSeconds: Self.sessionSeconds)
        #expect(try fixture.create().allMatch)
        return fixture
    }

    @Test func `a restore reads everything committed and nothing of its predecessor's open transaction`() throws {
        let fixture = try fixture("left-open")
        let owner = try LedgerOwner("one", fixture, timeoutMilliseconds: 600_000)
        try owner.write(30, "first")
        try owner.commit()
        try owner.write(3, "last")
        try owner.commit()
        try owner.write(30, "open")
        // Takes the transactional id over, which ends the transaction.
        let driver = try MemberDriver(.exactlyOnce, fixture.settings("one"))
        #expect(try driver.steps { _ in !driver.restored.isEmpty })
        let values = (driver.restored.first ?? []).map { String(decoding: $0.value ?? [], as: UTF8.self) }
        #expect(values.count == 33)
        #expect(values.count { $0 == "first" } == 30 && values.count { $0 == "last" } == 3)
        try driver.member.close()
        withExtendedLifetime(owner) {}
    }

    @Test func `two members share the partitions, and every record is written once`() throws {
        let fixture = try fixture("shared")
        #expect(try MemberDriver.publish(60, to: fixture.names.requests, fixture.properties).isComplete)
        let first = try MemberDriver(.exactlyOnce, fixture.settings("one"))
        let all = try first.records(60)
        let second = try MemberDriver(.exactlyOnce, fixture.settings("two"))
        // Restored partitions give their records while others are still being restored.
        var theirBatch = MemberBatch()
        let ourBatch = try first.gather { _ in
            theirBatch.add(try second.step(waitMilliseconds: 20))
            return first.restored.count == 2 && second.restored.count == 1
        }
        guard case .assigned(let ours)? = first.changes.last, case .assigned(let theirs)? = second.changes.last else {
            Issue.record("\(first.changes) \(second.changes)")
            return
        }
        #expect(Set(ours).isDisjoint(with: theirs) && Set(ours + theirs) == [0, 1, 2] && !theirs.isEmpty)
        for (driver, partitions, begun) in [(first, ours, ourBatch), (second, theirs, theirBatch)] {
            let expected = all.filter { partitions.contains($0.partition) }
            let batch = try driver.records(expected.records.count, after: begun)
            #expect(batch.places == expected.places)
            try driver.commit(batch, batch.outputs(.results, .ledger))
        }
        // The broker answers a commit a moment before it writes the marks that show it.
        let isShown = try eventually({ try fixture.values(of: .results).count }, until: { $0 >= 60 })
        #expect(isShown)
        #expect(try Set(fixture.values(of: .results)).count == 60 && fixture.values(of: .results).count == 60)
        #expect(try fixture.committed().compactMap(\.self).reduce(0, +) == 60)
        try first.member.close()
        try second.member.close()
    }
}
