import Broker
import Kafka
import KafkaKit
import KafkaPorts
import Settings
import TestKit
import Testing

@Suite(.waiting)
struct ResultsTailTests {
    private func values(_ tail: ResultsTail, _ count: Int) throws -> [String] {
        var values: [String] = []
        while values.count < count {
            values += try tail.poll().map { String(decoding: $0.value ?? [], as: UTF8.self) }
        }
        return values
    }

    private func configuration(_ properties: [(String, String)], _ more: String = "") throws -> Configuration {
        let text = properties.map { "\($0.0)=\($0.1)\n" }.joined()
        let own = #""topics":{"results":"\#(MockFixture.topic)"}"# + more
        return try ConfigurationDirectory(worker: ConfigurationDirectory.worker(own), properties: text).load()
    }

    @Test func `a tail gives what comes after it was made, or what there was before too`() throws {
        try withMock { fixture in
            let configuration = try configuration(fixture.properties())
            try fixture.fill(perPartition: 2, partitions: 2)
            let tail = try ResultsTail(configuration)
            let all = try ResultsTail(configuration, only: [0], fromBeginning: true)
            let producer = try fixture.producer()
            for partition in [0, 1] as [Int32] { try producer.put(bytes("new \(partition)"), to: partition) }
            try producer.flush(timeoutMilliseconds: .noLimit)
            #expect(try values(tail, 2).sorted() == ["new 0", "new 1"])
            #expect(try values(all, 3) == ["0", "1", "new 0"])
        }
    }

    @Test func `an embedded broker has no results to look at`() throws {
        let configuration = try configuration([("bootstrap.servers", "127.0.0.1:1")], #","embeddedBroker":true"#)
        #expect(throws: ConfigurationFault.self) { try ResultsTail(configuration) }
    }
}
