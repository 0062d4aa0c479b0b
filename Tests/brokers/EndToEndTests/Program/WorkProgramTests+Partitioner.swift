import BrokerKit
import Foundation
import Kafka
import Pipeline
import Streams
import TestKit
import Testing

extension WorkProgramTests {
    @Test func `a record on the wrong partition for its key is a key mismatch`() throws {
        let workplace = try ProgramWorkplace("misplaced")
        let records = try workplace.simulated(devices: 20, records: 90)
        try workplace.put(
            records.map { record in
                let own = Partitioner.murmur2.partition(of: record.key ?? [], count: workplace.partitions)
                var put = PutRecord(key: record.key, value: record.value, headers: record.headers)
                // Every third record lies one partition too far.
                if record.offset % 3 == 0 { put.partition = (own + 1) % workplace.partitions }
                return put
            }
        )
        _ = try workplace.work(until: records.count)
        let outcomes = try Outcomes(of: workplace)
        for (place, request) in outcomes.requests {
            let own = Partitioner.murmur2.partition(of: try #require(request.key), count: workplace.partitions)
            #expect((outcomes.summaries[place] == "key-mismatch") == (own != place.partition), "\(place)")
        }
        #expect(try #require(outcomes.counts["key-mismatch"]) > 10)
        #expect(try #require(outcomes.counts["accepted"]) > 10)
    }

    @Test(.kcatTests)
    func `with crc32 the records of kcat's own partitioner are accepted`() throws {
        let workplace = try ProgramWorkplace("kcat") { $0.members = #""partitioner": "crc32","# }
        let records = try workplace.simulated(devices: 20, records: 90)
        let lines = records.map { Array($0.key ?? []) + [0x09] + ($0.value ?? []) + [0x0A] }
        try Data(lines.joined()).write(to: URL(filePath: workplace.file("lines")))
        try workplace.kcat("-P", "-K", "\t", "-l", workplace.file("lines"))
        _ = try workplace.work(until: records.count)
        let outcomes = try Outcomes(of: workplace)
        #expect(outcomes.counts == ["accepted": records.count])
        let moved = outcomes.requests.values.filter {
            $0.partition != Partitioner.murmur2.partition(of: $0.key ?? [], count: workplace.partitions)
        }
        #expect(!moved.isEmpty, "murmur2 would have refused some of them")
    }
}
