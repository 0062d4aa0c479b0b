import AppCheck
import DeviceLab
import JSON
import Log
import SimulationKit
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
        let rig = try ExchangeRig(settings)
        var device = FakeDevice(ExchangeKit.model, seed: 3)
        var found: [(kind: String, answers: ExchangeAnswers)] = []
        func send(_ kind: String, _ request: ExchangeRequest) throws {
            found.append((kind, try rig.send(request.with(id: kind))))
        }
        try send("handshake", .challenge())
        let attestation = ExchangeRequest.attestation(of: device, challenge: try rig.challenge())
        try send("attested", attestation)
        let artifact = try #require(found.last?.answers.artifact)
        let assertion = ExchangeRequest.assertion(of: &device, artifact: artifact, challenge: try rig.challenge())
        try send("asserted", assertion)
        found.append(("duplicate", try rig.send(assertion.with(id: "asserted"))))
        try send("not greater", assertion)
        let (other, challenge) = (FakeDevice(ExchangeKit.model, seed: 4), try rig.challenge())
        try send("flipped", .attestation(of: other, challenge: challenge, fault: .nonceFlipped))
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
                    statuses[kind] = output.status
                case .events: #expect(id == root?["requestId"]?.string && output.status == nil)
                case .tokens:
                    #expect(
                        output.headers.contains(RecordHeader(name: Array("request-id".utf8), value: output.requestID))
                    )
                    #expect(output.status.map(Int64.init) == answers.code)
                case .deadLetters:
                    #expect(id == kind && output.status == nil)
                    statuses[kind] = .some(nil)
                case .ledger: Issue.record("the rig's outputs have no ledger")
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

    @Test func `a record of the ledger answers nobody`() {
        let record = OutboundRecord(.markForgotten, partition: 0)
        #expect(record.requestID == nil && record.status == nil)
    }
}
