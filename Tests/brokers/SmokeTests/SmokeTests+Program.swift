import BrokerKit
import Foundation
import Kafka
import KafkaPorts
import Streams
import TestKit
import Testing

/// The built program, from its command line to its exit code.
extension SmokeTests {
    /// Group and transactions outlive a loaded machine's pauses.
    private static let longTimeouts: [(name: String, value: String)] = [
        ("session.timeout.ms", String(sessionSeconds * 1_000)), ("transaction.timeout.ms", "120000"),
    ]

    private func workplace(_ prefix: String, members: String = "") throws -> ProgramWorkplace {
        try ProgramWorkplace(prefix) { ($0.members, $0.kafka) = (members, Self.longTimeouts) }
    }

    @Test func `a restarted worker resumes where the stopped one committed, and judges nothing twice`() throws {
        let workplace = try workplace("resumed")
        try workplace.simulate(devices: 10, records: 100, seed: 1)
        let first = try workplace.work(until: 100)
        try workplace.simulate(devices: 10, records: 100, seed: 2)
        let second = try workplace.work(until: 200)
        #expect(first.requests == 100 && second.requests == 100, "\(first.error) \(second.error)")
        #expect(try Outcomes(of: workplace).results.count == 200)
    }

    @Test func `SIGTERM in the middle of the work ends a worker with what it committed, and exit code 0`() throws {
        let workplace = try workplace("stopped", members: #""batch": {"records": 10},"#)
        try workplace.simulate(devices: 40, records: 600)
        let worker = try workplace.work(until: 1)
        #expect(try workplace.settles("results"))
        let results = try workplace.records(of: workplace.topic("results"))
        #expect(worker.requests == results.count && !results.isEmpty, "\(worker.error)")
        let reader = try Consumer(workplace.properties, topic: workplace.requests)
        for committed in try reader.committed([0, 1, 2], timeoutMilliseconds: .noLimit) {
            #expect(committed.offset ?? 0 == results.count { $0.partition == committed.partition }, "\(worker.error)")
        }
        // The next one does the rest, and more in any case: every request has one result.
        try workplace.simulate(devices: 5, records: 50, seed: 2)
        let next = try workplace.work(until: 650)
        #expect(next.requests == 650 - results.count, "\(next.error)")
        #expect(try Outcomes(of: workplace).results.count == 650)
    }

    @Test func `replay of the requests writes the bytes that run wrote`() throws {
        let workplace = try workplace("replayed")
        try workplace.simulate(devices: 20, records: 200, faults: 0.3)
        _ = try workplace.work(until: 200)
        let outcomes = try Outcomes(of: workplace)
        #expect(outcomes.counts["accepted"] ?? 0 > 50 && outcomes.counts.count > 5, "\(outcomes.counts)")
        let capture = workplace.file("capture.ndjson")
        _ = try TopicDump.capture(
            workplace.requests,
            workplace.properties,
            partitions: workplace.partitions,
            to: capture
        )
        try workplace.done("replay", "--input", capture, "--output", workplace.file("out"))
        let lines = try workplace.captured("out/results.ndjson")
        #expect(lines.count == outcomes.results.count)
        for line in lines {
            let written = try #require(outcomes.results[RecordPlace(line)])
            #expect(written.key == line.key && written.value == line.value)
        }
    }

    @Test func `a stock client gets tokens and verdicts from a gateway`() throws {
        // As long as the clients wait.
        let site = try GatewaySite("gateway", members: #""deadline": "60s", "#, kafka: Self.longTimeouts)
        let clients = try site.serve(devices: 1, records: 6).output
        for line in ["answers: 6 with 200", ": 3 tokens, 1 by attestation"] {
            #expect(clients.contains(line), "\(clients)")
        }
        for process in [site.gateway, site.worker] { process.expectEnd() }
    }
}
