import Broker
import BrokerKit
import Foundation
import Kafka
import Pipeline
import Streams
import TestKit
import Testing

extension WorkProgramTests {
    private func isAttestation(_ record: InboundRecord) -> Bool {
        String(decoding: record.value ?? [], as: UTF8.self).contains(":verifyAttestation")
    }

    @Test func `an export and a capture from the middle of a stream replay to the verdicts of run`() throws {
        let workplace = try ProgramWorkplace("middle")
        let all = try workplace.simulated(devices: 20, records: 400, faults: 0.2)
        let (first, second) = (all[..<200], all[200...])
        try workplace.put(first)
        _ = try workplace.work(until: first.count)
        let keys = try workplace.exported()
        try workplace.write(keys, to: "MIDDLE")
        let lines = keys.split(separator: "\n")
        #expect(
            lines.count > 10 && lines.allSatisfy { $0.contains(#""lastRequest":{"id":"#) && $0.contains(#""app":"#) }
        )
        let middle = try workplace.access.requestOffsets(partitions: workplace.partitions).map(\.high)
        // What comes after: a gateway that sends everything once more, and new requests among it.
        try workplace.put(first)
        try workplace.put(second)
        try workplace.put(all.filter(isAttestation))
        let total = try workplace.records(of: workplace.requests).count
        _ = try workplace.work(until: total)

        let rest = try workplace.records(of: workplace.requests).filter { $0.offset >= middle[Int($0.partition)] }
        try workplace.write(CaptureCodec.capture(rest), to: "rest.ndjson")
        let input = ["--input", workplace.file("rest.ndjson")]
        try workplace.done(
            "replay",
            input + ["--keys", workplace.file("MIDDLE"), "--output", workplace.file("replayed")]
        )
        let outcomes = try Outcomes(of: workplace)
        let replayed = try workplace.captured("replayed/results.ndjson")
        #expect(replayed.count == rest.count)
        var duplicates = 0
        for result in replayed {
            let live = outcomes.results[RecordPlace(result)]
            #expect(live?.value == result.value, "\(result.partition)/\(result.offset)")
            if String(decoding: result.value ?? [], as: UTF8.self).contains(#""duplicate":true"#) { duplicates += 1 }
        }
        #expect(duplicates > 10, "the last accepted request of each key came once more")
        // Without the keys, or with none of their last requests, the replay says something else.
        try workplace.done("replay", input + ["--output", workplace.file("ignorant")])
        #expect(try workplace.bytes("ignorant/results.ndjson") != workplace.bytes("replayed/results.ndjson"))
    }
}
