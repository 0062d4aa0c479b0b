import AppCheck
import DeviceLab
import JSON
import SimulationKit
import Streams
import TestKit
import Testing

@testable import Pipeline

/// A reader of outputs in memory gets request id and status without parsing what this program wrote.
@Suite struct OutputMembersTests {
    private static let resource = "v1/\(ExchangeKit.resource)"

    /// One request of each kind, and what becomes of it.
    private static func answers() throws -> [(kind: String, answers: ExchangeAnswers)] {
        var settings = try ExchangeKit.settings()
        settings.maxRecordBytes = 4_000
        var (rig, device) = try ExchangeRig.fresh(settings)
        var found: [(kind: String, answers: ExchangeAnswers)] = []
        func send(_ kind: String, _ request: ExchangeRequest) throws {
            found.append((kind, try rig.send(request.with(id: kind))))
        }
        try send("handshake", .challenge())
        try send("attested", rig.attestation(of: device))
        let artifact = try #require(found.last?.answers.artifact)
        let assertion = try rig.assertion(of: &device, artifact)
        try send("asserted", assertion)
        found.append(("duplicate", try rig.send(assertion.with(id: "asserted"))))
        try send("not greater", assertion)
        let other = FakeDevice(ExchangeKit.model, seed: 4)
        try send("flipped", rig.attestation(of: other, fault: .nonceFlipped))
        let shapeless = ExchangeRequest.value("\(resource):exchangeAppAttestAttestation", body: Array("{}".utf8))
        try send("shapeless", ExchangeRequest(shapeless))
        try send("not JSON", ExchangeRequest(Array("junk".utf8)))
        let path = "v1/projects/p/apps/\(String(repeating: "\u{1}", count: 1_000)):x"
        try send("result too large", ExchangeRequest(ExchangeRequest.value(path, body: nil)))
        #expect(try rig.replace(ExchangeKit.settings(keys: ExchangeKit.keys(challenges: []))) == nil)
        try send("deferred", .challenge())
        return found
    }

    @Test func `an output's request id and status are those of its JSON, for every kind of outcome`() throws {
        var statuses: [String: Int?] = [:]
        for (kind, answers) in try Self.answers() {
            for output in answers.outputs {
                let root = output.value.flatMap { try? JSONDocument(parsing: $0).root }
                let id = output.requestID.map { String(decoding: $0, as: UTF8.self) }
                switch output.stream {
                case .results:
                    #expect(id == root?["requestId"]?.string)
                    #expect(output.status.map(Int64.init) == root?["status"]?["code"]?.integer)
                    let code = try #require(root?["status"]?["code"]?.integer)
                    let named = [RecordHeader("request-id", id ?? ""), RecordHeader("status", "\(code)")]
                    #expect(output.headers == named)
                    statuses[kind] = output.status
                case .events: #expect(id == root?["requestId"]?.string && output.status == nil)
                case .tokens:
                    #expect(output.headers == [RecordHeader("request-id", id ?? "")])
                    #expect(output.status.map(Int64.init) == answers.code)
                case .deadLetters:
                    #expect(id == kind && output.status == nil)
                    statuses[kind] = .some(nil)
                case .ledger, .replies, .receipts: Issue.record("no ledger, no reply-to, and no topic of receipts")
                }
            }
        }
        #expect(
            statuses == [
                "handshake": 200, "attested": 200, "asserted": 200, "duplicate": 200, "not greater": 403,
                "flipped": 403,
                "shapeless": 400, "not JSON": nil, "result too large": nil, "deferred": 503,
            ]
        )
    }

    @Test func `a result names a request without an id by its place, and the trace stands behind the status`() throws {
        let rig = try ExchangeRig(ExchangeKit.settings())
        let trace = [RecordHeader("tracestate", "a=b"), RecordHeader("traceparent", "00-1-2-03")]
        let offset = rig.streams.end(of: 0)
        let value = ExchangeRequest.value("v1/projects/p/apps/x:y", body: nil)
        var record = RequestRecords.record(value, key: nil, offset: offset, timestamp: rig.time)
        record.headers = trace
        rig.streams.add(record)
        try rig.settle()
        let result = try #require(rig.streams.outputs.first { $0.stream == .results })
        let named = [RecordHeader("request-id", "appattest.requests/0/\(offset)"), RecordHeader("status", "400")]
        #expect(result.headers == named + trace)
    }

    @Test(arguments: OutputTopic.allCases)
    func `a file has the headers of the topic, and their size is counted`(stream: OutputTopic) throws {
        let others = [RecordHeader("traceparent", "00-1-2-03"), RecordHeader(name: Array("bare".utf8), value: nil)]
        for (id, status) in [([0x72, 0x22], 403), ([0xFF], 200), (nil, nil)] as [([UInt8]?, Int?)] {
            let record = OutboundRecord(
                stream: stream,
                partition: 1,
                sourceOffset: 2,
                sourceTimestamp: 3,
                key: [1, 2, 3],
                value: [4],
                otherHeaders: others,
                requestID: id,
                status: status
            )
            let line = try #require(CaptureCodec.encode([record], topics: [stream: "t"]).first?.bytes)
            #expect(try CaptureCodec.decode(Array(line.dropLast())).headers == record.headers)
            let sizes = record.headers.map { $0.name.count + ($0.value?.count ?? 0) + 10 }
            #expect(record.byteCount == 4 + sizes.reduce(0, +))
            let name = Array("request-id".utf8)
            let own = [RecordHeader(name: name, value: id), RecordHeader("status", "\(status ?? 0)")]
            let most = [.results, .replies].contains(stream) ? 2 : stream == .tokens ? 1 : 0
            #expect(record.headers == (id == nil ? [] : own.prefix(most)) + others)
        }
    }

    @Test func `a record of the ledger answers nobody`() {
        let record = OutboundRecord(.markForgotten, partition: 0)
        #expect(record.requestID == nil && record.status == nil)
    }
}
