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

/// Rounds of a member on librdkafka; what it does with its group is the contract's.
@Suite(.waiting)
struct MockMemberTests {
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

    @Test func `huge headers end a round as huge values do`() throws {
        try withMockTopics { _, settings in
            let producer = try Producer(KafkaProperties(settings.properties + [("compression.codec", "gzip")]))
            let header = RecordHeader(name: bytes("h"), value: [UInt8](repeating: 7, count: 100_000))
            for _ in 0..<50 {
                try producer.produce(topic: "requests", partition: 0, key: nil, value: [1], headers: [header])
            }
            try producer.flush(timeoutMilliseconds: .noLimit)
            let driver = try MemberDriver(.exactlyOnce, settings)
            var (count, largest) = (0, 0)
            _ = try driver.steps(BatchLimits(bytes: 1_000_000)) { batch in
                count += batch.records.count
                largest = max(largest, batch.records.count)
                return count == 50
            }
            #expect(count == 50)
            #expect(largest <= 12, "a million bytes and the last record")
            try driver.member.close()
        }
    }
}
