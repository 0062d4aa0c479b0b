import Kafka
import KafkaKit
import KafkaPorts
import TestKit
import Testing

@Suite(.waiting)
struct ConsumerTests {
    @Test func `nothing is committed unless asked for`() throws {
        try withMock(partitions: 1) { fixture in
            try fixture.fill(perPartition: 10)
            // Not even where the caller sets enable.auto.commit.
            let first = try fixture.consumer([("enable.auto.commit", "true"), ("auto.commit.interval.ms", "10")])
            try first.subscribe()
            #expect(try first.records(10).count == 10)
            try first.close()
            let second = try fixture.consumer()
            try second.subscribe()
            #expect(try second.records(10).map(\.offset) == Array(0..<10))
        }
    }

    @Test func `missing ends are a fault, and the records already fetched stay`() throws {
        try withMock(partitions: 1) { fixture in
            try fixture.fill(perPartition: 50)
            let reader = try fixture.reader([0])
            #expect(try reader.records(1).count == 1)
            try fixture.cluster.setBroker(1, isUp: false)
            let fault = #expect(throws: KafkaFault.self) { try reader.watermarks(of: 0, timeoutMilliseconds: 300) }
            #expect(fault?.isRetriable == true)
            try fixture.cluster.setBroker(1, isUp: true)
            #expect(try reader.records(49).map(\.offset) == Array(1..<50))
        }
    }

    @Test func `a dropped consumer leaves its group`() throws {
        try withMock(partitions: 1) { fixture in
            try fixture.fill(perPartition: 3)
            do {
                let dropped = try fixture.consumer()
                try dropped.subscribe()
                #expect(try dropped.records(3).count == 3)
            }
            let next = try fixture.consumer()
            try next.subscribe()
            #expect(try next.records(3).count == 3)
        }
    }
}
