import Broker
import BrokerKit
import Kafka
import KafkaKit
import KafkaPorts
import Member
import Settings
import Streams
import TestKit
import Testing

@Suite(.waiting)
struct MockMemberTests {
    @Test(arguments: MemberDelivery.allCases)
    func `a batch is committed with its outputs, an aborted one is read again, and a restart resumes`(
        delivery: MemberDelivery
    ) throws {
        try withMockTopics { _, settings in
            #expect(try MemberDriver.publish(100, to: "requests", settings.properties).acknowledged == 100)
            let driver = try MemberDriver(delivery, settings)
            let first = try driver.records(100)
            #expect(driver.changes == [.assigned([0, 1, 2, 3])])
            #expect(driver.restored == [[]])
            let half = first.filter { $0.partition < 2 }
            try driver.commit(half, half.outputs(.results, .ledger))

            // The other half is aborted, and only that half is delivered again.
            let rest = first.filter { $0.partition >= 2 }
            driver.fail(rest, rest.outputs(.results))
            try driver.member.transaction.abort()
            let again = try driver.records(rest.records.count)
            #expect(again.places == rest.places)
            let stale = #expect(throws: KafkaFault.self) {
                try driver.member.transaction.begin()
                try driver.member.transaction.commit(
                    [PartitionPosition(partition: 3, offset: 1_000)],
                    of: again.generation
                )
            }
            #expect(stale?.isRecoverable == true && stale?.requiresAbort == true)
            try driver.member.close()

            let next = try MemberDriver(delivery, settings)
            let resumed = try next.gather { $0.records.count >= rest.records.count && !next.restored.isEmpty }
            #expect(resumed.places == rest.places)
            // The mock cluster shows aborted records too, and the aborted outputs wrote none to the ledger.
            #expect(next.restored.map(\.count) == [half.records.count])
            try next.member.close()
            try check(half.records, in: "results", settings)
        }
    }

    /// The outputs of `records` lie on their requests' partitions, with key and headers.
    private func check(_ records: [InboundRecord], in topic: String, _ settings: BrokerSettings) throws {
        var properties = KafkaProperties(settings.properties)
        properties["group.id"] = "check"
        let reader = try Consumer(properties, topic: topic)
        try reader.assign([0, 1].map { PartitionOffset(partition: $0, offset: PartitionOffset.beginning) })
        let outputs = try reader.records(records.count)
        #expect(
            Set(outputs.map { $0.value ?? [] })
                == Set(records.map { MemberDriver.output(.results, for: $0).value ?? [] })
        )
        for output in outputs {
            #expect(output.key != nil)
            #expect(output.headers.map(\.name) == [bytes("request-id"), bytes("none")])
            #expect(output.headers.last?.value == nil)
        }
    }

    @Test func `a partition where nothing is there counts as read once its leader has answered`() throws {
        try withMockTopics { _, settings in
            let driver = try MemberDriver(.exactlyOnce, settings)
            // Only an answer of its leader gives an empty partition a position.
            let all = try driver.gather { _ in driver.member.snapshot().positions.count == 4 }
            #expect(all.records.isEmpty && driver.changes == [.assigned([0, 1, 2, 3])])
            #expect(driver.member.snapshot().unread == [])
            try driver.member.close()
        }
    }

    @Test func `record and byte limits end a round`() throws {
        try withMockTopics { _, settings in
            #expect(try MemberDriver.publish(60, to: "requests", settings.properties).isComplete)
            let driver = try MemberDriver(.exactlyOnce, settings)
            #expect(try driver.records(5, limits: BatchLimits(records: 5)).records.count == 5)
            // Any record is larger than a byte: one ends the round.
            #expect(try driver.records(1, limits: BatchLimits(bytes: 1)).records.count == 1)
            #expect(try driver.records(54).records.count == 54)
            #expect(try driver.member.poll(BatchLimits(), waitMilliseconds: 0).records.isEmpty)
            try driver.member.close()
        }
    }
}
