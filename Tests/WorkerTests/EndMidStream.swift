import AppAttest
import AppCheck
import Foundation
import JSON
import Kafka
import Pipeline
import Testing

@testable import Worker

extension EndToEndTests {
    /// Records of fake devices with their results by a replay, in the order in which they were made.
    func simulated(
        _ workplace: Workplace,
        devices: Int,
        records: Int,
        faults: Double = 0
    ) throws -> [InboundRecord] {
        let path = workplace.file("simulated.ndjson")
        let counts = ["--devices", String(devices), "--records", String(records), "--faults", String(faults)]
        let process = try WorkerProcess(
            ["simulate", "--config", workplace.config, "--output", path] + counts,
            folder: workplace.path
        )
        try #require(process.exitCode() == 0, "\(process.error)")
        return try workplace.bytes("simulated.ndjson").split(separator: 0x0A).map { try CaptureCodec.decode(Array($0)) }
    }

    func put(_ records: some Sequence<InboundRecord>, into workplace: Workplace) throws {
        try workplace.put(records.map { PutRecord(key: $0.key, value: $0.value, headers: $0.headers) })
    }

    func isAttestation(_ record: InboundRecord) -> Bool {
        String(decoding: record.value ?? [], as: UTF8.self).contains(":verifyAttestation")
    }

    /// The keys that a replay of the attestations registers, as lines.
    private func attestedKeys(_ workplace: Workplace) throws -> [ImportedKey] {
        try workplace.done(
            "replay",
            "--input",
            workplace.file("simulated.ndjson"),
            "--output",
            workplace.file("attested")
        )
        return try workplace.bytes("attested/results.ndjson").split(separator: 0x0A).compactMap { line in
            let record = try CaptureCodec.decode(Array(line))
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
        let workplace = try Workplace("knowing")
        let assertions = try simulated(workplace, devices: 6, records: 66).filter { !isAttestation($0) }
        var keys = try attestedKeys(workplace)
        try #require(keys.count == 6 && assertions.count == 60)
        keys[0].counter = .max
        keys[1].publicKeyBytes = [4, 1, 2, 3]
        keys[2].app = "projects/1/apps/another"
        let unknown = keys.removeLast()
        #expect(try workplace.importKeys(KeySamples.file(keys)).exitCode() == 0)
        try put(assertions, into: workplace)
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
        #expect(try workplace.waitsForMembers(0))
        let again = try workplace.importKeys(KeySamples.file(keys))
        #expect(again.exitCode() == 0 && again.output.contains("5 unchanged"), "\(again.output) \(again.error)")
        #expect(try workplace.exported() == before)
    }

    @Test func `an export and a capture from the middle of a stream replay to the verdicts of run`() throws {
        let workplace = try Workplace("middle")
        let all = try simulated(workplace, devices: 20, records: 400, faults: 0.2)
        let (first, second) = (all[..<200], all[200...])
        try put(first, into: workplace)
        _ = try workplace.work(until: first.count)
        let keys = try workplace.exported()
        try workplace.write(keys, to: "MIDDLE")
        let lines = keys.split(separator: "\n")
        #expect(
            lines.count > 10 && lines.allSatisfy { $0.contains(#""lastRequest":{"id":"#) && $0.contains(#""app":"#) }
        )
        let middle = try workplace.access.requestOffsets(partitions: Workplace.partitions).map(\.high)
        // What comes after: a gateway that sends everything once more, and new requests among it.
        try put(first, into: workplace)
        try put(second, into: workplace)
        try put(all.filter(isAttestation), into: workplace)
        let total = try workplace.records(of: workplace.requests).count
        _ = try workplace.work(until: total)

        let rest = try workplace.records(of: workplace.requests).filter { $0.offset >= middle[Int($0.partition)] }
        var capture: [UInt8] = []
        for record in rest { CaptureCodec.encode(inbound(record, of: workplace.requests), into: &capture) }
        try Data(capture).write(to: URL(filePath: workplace.file("rest.ndjson")))
        try workplace.done(
            "replay",
            "--input",
            workplace.file("rest.ndjson"),
            "--keys",
            workplace.file("MIDDLE"),
            "--output",
            workplace.file("replayed")
        )
        let outcomes = try Outcomes(of: workplace)
        let replayed = try workplace.bytes("replayed/results.ndjson").split(separator: 0x0A)
            .map { try CaptureCodec.decode(Array($0)) }
        #expect(replayed.count == rest.count)
        var duplicates = 0
        for result in replayed {
            let live = outcomes.results[Place(partition: result.partition, offset: result.offset)]
            #expect(live?.value == result.value, "\(result.partition)/\(result.offset)")
            if String(decoding: result.value ?? [], as: UTF8.self).contains(#""duplicate":true"#) { duplicates += 1 }
        }
        #expect(duplicates > 10, "the last accepted request of each key came once more")
        // Without the keys, or with none of their last requests, the replay says something else.
        try workplace.done(
            "replay",
            "--input",
            workplace.file("rest.ndjson"),
            "--output",
            workplace.file("ignorant")
        )
        #expect(try workplace.bytes("ignorant/results.ndjson") != workplace.bytes("replayed/results.ndjson"))
    }

    private func inbound(_ record: KafkaRecord, of topic: String) -> InboundRecord {
        InboundRecord(
            topic: topic,
            partition: record.partition,
            offset: record.offset,
            timestamp: record.timestamp,
            key: record.key,
            value: record.value,
            headers: record.headers.map { RecordHeader(name: $0.name, value: $0.value) }
        )
    }
}
