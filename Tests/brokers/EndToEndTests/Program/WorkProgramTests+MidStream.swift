import AppAttest
import AppCheck
import BrokerKit
import Foundation
import JSON
import Kafka
import KafkaKit
import Pipeline
import Settings
import Streams
import TestKit
import Testing

@testable import Broker
@testable import Commands

extension WorkProgramTests {
    func isAttestation(_ record: InboundRecord) -> Bool {
        String(decoding: record.value ?? [], as: UTF8.self).contains(":verifyAttestation")
    }

    /// The keys that a replay of the attestations registers, as lines.
    private func attestedKeys(_ workplace: ProgramWorkplace) throws -> [ImportedKey] {
        let files = ["--input", workplace.file("simulated.ndjson"), "--output", workplace.file("attested")]
        try workplace.done("replay", files)
        return try workplace.captured("attested/results.ndjson").compactMap { record in
            let evidence = try JSONDocument(parsing: record.value ?? []).root["evidence"]
            guard let point = evidence?["publicKey"]?.stringBytes.flatMap({ Base64.decode($0) }),
                let appID = evidence?["appId"]?.string,
                let environment = evidence?["environment"]?.string.flatMap({ Environment(rawValue: $0) }),
                let keyID = record.key.flatMap({ KeyID(recordKey: $0) })
            else { return nil }
            return ImportedKey(
                keyID: keyID,
                publicKeyBytes: point,
                appleAppID: appID,
                environment: environment,
                counter: 0
            )
        }
    }

    @Test func `a run after an import knows the keys, with their counters, apps and faults`() throws {
        let workplace = try ProgramWorkplace("knowing")
        let assertions = try workplace.simulated(devices: 6, records: 66).filter { !isAttestation($0) }
        var keys = try attestedKeys(workplace)
        try #require(keys.count == 6 && assertions.count == 60)
        keys[0].counter = .max
        keys[1].publicKeyBytes = [4, 1, 2, 3]
        keys[2].app = "projects/1/apps/another"
        let unknown = keys.removeLast()
        #expect(try workplace.importKeys(KeySamples.file(keys)).waitForEnd() == .exit(0))
        try workplace.put(assertions)
        _ = try workplace.work(until: assertions.count)
        let outcomes = try Outcomes(of: workplace)
        let reasons = [
            keys[0].keyID: "counter-not-greater", keys[1].keyID: "key-invalid", keys[2].keyID: "key-already-bound",
        ]
        for (place, request) in outcomes.requests {
            let keyID = try #require(request.key.flatMap { KeyID(recordKey: $0) })
            let expected = reasons[keyID] ?? (keyID == unknown.keyID ? "unknown-key" : "accepted")
            #expect(outcomes.summaries[place] == expected, "\(place)")
        }
        #expect(try #require(outcomes.counts["accepted"]) > 10)
        // An import after the run finds higher counters, and lowers none.
        let before = try workplace.exported()
        #expect(try workplace.hasMembers(0))
        let again = try workplace.importKeys(KeySamples.file(keys))
        #expect(
            again.waitForEnd() == .exit(0) && again.output.contains("5 unchanged"),
            "\(again.output) \(again.error)"
        )
        #expect(try workplace.exported() == before)
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
