import Broker
import BrokerKit
import Kafka
import KafkaKit
import Settings
import Streams
import TestKit
import Testing

/// Rounds whose records lie in the library's memory.
@Suite(.waiting)
struct RoundTests {
    @Test func `huge headers end a round as huge values do`() throws {
        try withMockTopics { cluster, settings in
            let producer = try Producer(KafkaProperties(settings.properties + [("compression.codec", "gzip")]))
            let header = RecordHeader(name: bytes("h"), value: [UInt8](repeating: 7, count: 100_000))
            for _ in 0..<50 {
                try producer.produce(
                    topic: settings.topics.requests,
                    partition: 0,
                    key: nil,
                    value: [1],
                    headers: [header]
                )
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
            withExtendedLifetime(cluster) {}
        }
    }

    @Test func `a round outlives its member`() throws {
        try withMockTopics { _, settings in
            #expect(try MemberDriver.publish(100, to: settings.topics.requests, settings.properties).isComplete)
            var driver: MemberDriver? = try MemberDriver(.exactlyOnce, settings)
            driver?.uncopied = []
            _ = try driver?.steps { _ in driver?.uncopied?.count == 100 }
            let kept = driver?.uncopied ?? []
            try driver?.member.close()
            driver = nil
            let records = kept.compactMap { $0.take() }
            #expect(records.count == 100 && Set(records.map(\.value)).count == 100)
            #expect(Set(records.map(\.value)) == Set((1...100).map { bytes("value \($0)") }))
            #expect(kept.map(\.stamp) == records.map { RecordStamp($0) })
        }
    }
}
