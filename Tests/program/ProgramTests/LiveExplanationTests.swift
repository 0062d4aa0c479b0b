internal import AppAttest
internal import AppCheck
internal import Broker
internal import DeviceLab
internal import Foundation
internal import JSON
internal import Kafka
internal import Pipeline
internal import Settings
internal import SimulationKit
internal import Streams
internal import TestKit
internal import Testing

@testable internal import Run

/// Reasons that only a worker with a clock and a topic can give, explained from a capture of that topic.
@Suite("Explanations of live decisions")
struct LiveExplanationTests {
    private static let partitions: Int32 = 4

    private let lab: EveryReason
    private let rig: ExchangeRig
    private let partition: ([UInt8]) -> Int32

    init() throws {
        lab = try EveryReason()
        let partitioner = try #require(lab.configuration.partitioner.partitioner)
        partition = { partitioner.partition(of: $0, count: Self.partitions) }
        let settings = lab.configuration.liveSettings(lab.rings, partitions: TopicPartitions(requests: Self.partitions))
        rig = try ExchangeRig(settings, partitions: Self.partitions)
    }

    /// Sends requests to a live loop, then explains the last of them from their capture.
    private func explain(_ requests: [ExchangeRequest]) throws -> (reason: String?, report: JSONNode) {
        var capture: [UInt8] = []
        var offsets: [Int32: Int64] = [:]
        var last: (reason: String?, place: String) = (nil, "")
        for (index, request) in requests.enumerated() {
            var request = request.with(id: "request-\(index)")
            let place = request.partition ?? partition(request.key ?? [])
            request.partition = place
            let offset = offsets[place, default: 0]
            offsets[place] = offset + 1
            let record = InboundRecord(
                topic: "appattest.requests",
                partition: place,
                offset: offset,
                timestamp: request.timestamp ?? rig.time,
                key: request.key,
                value: request.value,
                headers: [RecordHeader("request-id", "request-\(index)")] + request.headers
            )
            CaptureCodec.encode(record, into: &capture)
            last = (try rig.send(request).reason, "\(place)/\(offset)")
        }
        try Data(capture).write(to: URL(filePath: lab.file("live.ndjson")))
        let (code, transcript) = Transcript.run([
            "inspect", "--config", lab.config, "--input", lab.file("live.ndjson"), "--record", last.place, "--now",
            "\(rig.time)", "--partitions", "\(Self.partitions)", "--json",
        ])
        try #require(code == 0, "\(transcript.error)")
        return (last.reason, try JSONDocument(parsing: Array(transcript.output.utf8)).root)
    }

    private func check(_ requests: [ExchangeRequest], _ reason: String, at check: String) throws {
        let (decided, report) = try explain(requests)
        #expect(decided == reason)
        #expect(report["reason"]?.string == reason)
        let failed = try #require(report["checks"]?.elements.first { $0["result"]?.string == "failed" })
        #expect(failed["name"]?.string == check)
        let value = try #require(failed["values"]?.elements.first)
        #expect(value["presented"] != nil && value["expected"] != nil)
    }

    private func attestation(_ device: FakeDevice) -> ExchangeRequest {
        let value = RequestRecords.value(
            verb: .verifyAttestation,
            object: device.attest(
                clientDataHash: EveryReason.hash,
                at: EvaluationTime(milliseconds: ExchangeKit.start - 1000)
            ),
            keyID: device.keyID,
            clientDataHash: EveryReason.hash,
            path: EveryReason.path("plain")
        )
        return ExchangeRequest(value, key: device.keyID.recordKey)
    }

    @Test func `a record that is too old shows the times that a worker accepts`() throws {
        try check([attestation(lab.device()).at(rig.time - 97 * 3_600_000)], "too-old", at: "age")
    }

    @Test func `a record ahead of the clock shows the times that a worker accepts`() throws {
        let known = attestation(lab.device())
        try check([known, attestation(lab.device()).at(rig.time + 600_000)], "from-future", at: "age")
    }

    @Test func `a key on another partition shows where the partitioner puts it`() throws {
        let device = lab.device()
        var request = attestation(device)
        request.partition = (partition(device.keyID.recordKey) + 1) % Self.partitions
        let (decided, report) = try explain([request])
        #expect(decided == "key-mismatch" && report["reason"]?.string == "key-mismatch")
        let failed = try #require(report["checks"]?.elements.first { $0["result"]?.string == "failed" })
        #expect(failed["name"]?.string == "partition")
        let value = try #require(failed["values"]?.elements.first)
        #expect(value["presented"]?.integer == request.partition.map { Int64($0) })
        #expect(value["expected"]?.integer == Int64(partition(device.keyID.recordKey)))
    }

    @Test func `an attestation above the rate shows what was admitted`() throws {
        let first = lab.device()
        var second = lab.device()
        while partition(second.keyID.recordKey) != partition(first.keyID.recordKey) { second = lab.device() }
        let requests = try [first, second].map { device in
            ExchangeRequest.attestation(
                of: device,
                challenge: try lab.challenge("rate"),
                resource: EveryReason.name("rate")
            )
        }
        try check(requests, "attestation-rate", at: "rate")
    }
}
