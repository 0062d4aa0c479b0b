internal import AppCheck
internal import Broker
internal import DeviceLab
internal import JSON
internal import Kafka
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
    ///
    /// - Returns: the value that the failed check shows.
    @discardableResult
    private func check(_ requests: [ExchangeRequest], _ reason: String, at check: String) throws -> JSONNode {
        var (records, decided): ([InboundRecord], String?) = ([], nil)
        for (index, request) in requests.enumerated() {
            var request = request.with(id: "request-\(index)")
            let place = request.partition ?? partition(request.key ?? [])
            request.partition = place
            records.append(
                InboundRecord(
                    topic: "appattest.requests",
                    partition: place,
                    offset: Int64(index),
                    timestamp: request.timestamp ?? rig.time,
                    key: request.key,
                    value: request.value,
                    headers: [RecordHeader("request-id", "request-\(index)")] + request.headers
                )
            )
            decided = try rig.send(request).reason
        }
        try lab.write(capture: records, as: "live.ndjson")
        let last = try #require(records.last)
        let more = ["--now", "\(rig.time)", "--partitions", "\(Self.partitions)", "--json"]
        let report = try lab.inspect("\(last.partition)/\(last.offset)", more, capture: "live.ndjson").json
        #expect(decided == reason && report["reason"]?.string == reason)
        let failed = try #require(report.failedChecks.first)
        #expect(failed["name"]?.string == check)
        let value = try #require(failed["values"]?.elements.first)
        #expect(value["presented"] != nil && value["expected"] != nil)
        return value
    }

    private func attestation() -> ExchangeRequest {
        .verifyAttestation(of: lab.device(), resource: EveryReason.name("plain"))
    }

    @Test(arguments: [("too-old", -97 * 3_600_000), ("from-future", 600_000)] as [(String, Int64)])
    func `a record that is too old, or ahead of the clock, shows the times that a worker accepts`(
        reason: String,
        ahead: Int64
    ) throws {
        try check([attestation(), attestation().at(rig.time + ahead)], reason, at: "age")
    }

    @Test func `a key on another partition shows where the partitioner puts it`() throws {
        var request = attestation()
        let right = partition(try #require(request.key))
        request.partition = (right + 1) % Self.partitions
        let value = try check([request], "key-mismatch", at: "partition")
        #expect(value["presented"]?.integer == request.partition.map { Int64($0) })
        #expect(value["expected"]?.integer == Int64(right))
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
