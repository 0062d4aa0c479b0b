import Broker
import BrokerKit
import ChaosKit
import Foundation
import Kafka
import KafkaKit
import Settings
import Streams
import Testing

extension RealKafkaTests {
    @Test(.kcatTests)
    func `kcat's records are read as written, on the partitions that its partitioner chose`() throws {
        let fixture = try RealFixture("kcat-in")
        _ = try fixture.create()
        for (partitioner, name) in [(Partitioner.crc32, "consistent_random"), (.murmur2, "murmur2_random")] {
            let lines = (0..<50).map { "\(name) \($0);value \($0)" }.joined(separator: "\n")
            try fixture.kcat(
                ["-P", "-K", ";", "-H", "request-id=r", "-H", "bare", "-X", "partitioner=\(name)"],
                input: lines + "\n"
            )
            let driver = try MemberDriver(.exactlyOnce, fixture.settings("one"))
            let batch = try driver.records(50)
            for record in batch.records {
                let key = try #require(record.key)
                #expect(key.starts(with: bytes(name)))
                #expect(record.partition == partitioner.partition(of: key, count: 3))
                #expect(record.headers.first == RecordHeader("request-id", "r"))
                #expect(record.headers.last?.name == bytes("bare"))
            }
            try driver.commit(batch, [])
            try driver.member.close()
        }
    }

    @Test(.kcatTests)
    func `kcat reads published records`() throws {
        let fixture = try RealFixture("kcat-out")
        _ = try fixture.create()
        #expect(try MemberDriver.publish(20, to: fixture.names.requests, fixture.properties).isComplete)
        let output = try fixture.kcat(["-C", "-e", "-q", "-f", "%k=%s@%p\n"])
        let expected = (1...20).map { number in
            let partition = Partitioner.murmur2.partition(of: bytes("key \(number)"), count: 3)
            return "key \(number)=value \(number)@\(partition)"
        }
        #expect(output.split(separator: "\n").map(String.init).sorted() == expected.sorted())
    }
}
