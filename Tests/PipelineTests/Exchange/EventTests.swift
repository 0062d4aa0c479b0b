import AppAttest
import AppCheck
import DeviceLab
import JSON
import Pipeline
import TestSupport
import Testing

@Suite struct EventTests {
    private static func members(_ answers: ExchangeAnswers) -> [String] {
        answers.event?.members.map { String(decoding: $0.name, as: UTF8.self) } ?? []
    }

    @Test func `a success has exactly the members of the contract`() throws {
        let rig = try ExchangeRig(ExchangeKit.settings { $0.rollout = Rollout(mode: .shadow, parts: 10_000_000) })
        var device = FakeDevice(ExchangeKit.model, seed: 3)
        let request = ExchangeRequest.attestation(of: device, challenge: try rig.challenge()).with(id: "r-1")
        let attested = try rig.send(request)
        #expect(
            Self.members(attested) == ["event", "app", "method", "requestId", "limitedUse", "bucket", "percent", "at"]
        )
        let event = try #require(attested.event)
        #expect(event["app"]?.string == ExchangeKit.name)
        #expect(event["method"]?.string == "exchangeAppAttestAttestation")
        #expect(event["requestId"]?.string == "r-1")
        #expect(event["limitedUse"]?.bool == false)
        #expect(event["percent"]?.numberText == "10")
        #expect(event["at"]?.string == attested.result?["evaluatedAt"]?.string)
        let artifact = try #require(attested.artifact)
        let asserted = try rig.refresh(&device, artifact, limitedUse: true)
        #expect(Self.members(asserted) == ["event", "app", "method", "requestId", "limitedUse", "at"])
        #expect(asserted.event?["method"]?.string == "exchangeAppAttestAssertion")
        #expect(asserted.event?["limitedUse"]?.bool == true)
    }

    @Test func `a failure says why, also where the request was refused for its shape`() throws {
        let rig = try ExchangeRig(ExchangeKit.settings())
        let device = FakeDevice(ExchangeKit.model, seed: 3)
        let challenge = try rig.challenge()
        let bad = try rig.send(.attestation(of: device, challenge: challenge, limitedUse: true, fault: .nonceFlipped))
        #expect(Self.members(bad) == ["event", "app", "method", "reason", "requestId", "limitedUse", "at"])
        #expect(bad.eventName == "AppAttestFailure" && bad.event?["reason"]?.string == "nonce-mismatch")
        #expect(bad.event?["limitedUse"]?.bool == true)
        let path = "v1/\(ExchangeKit.resource):exchangeAppAttestAttestation"
        let shapeless = try rig.send(ExchangeRequest(ExchangeRequest.value(path, body: Array("{}".utf8))))
        #expect(shapeless.eventName == "AppAttestFailure")
        #expect(shapeless.event?["reason"]?.string == "malformed-request")
        var misplaced = ExchangeRequest.attestation(of: device, challenge: challenge)
        misplaced.key = Array("elsewhere".utf8)
        #expect(try rig.send(misplaced).event?["reason"]?.string == "key-mismatch")
    }

    @Test func `other verbs, apps that nobody registered, duplicates and dead letters have no event`() throws {
        let rig = try ExchangeRig(ExchangeKit.settings())
        let device = FakeDevice(ExchangeKit.model, seed: 3)
        let challenge = try rig.challenge()
        let attested = ExchangeRequest.attestation(of: device, challenge: challenge).with(id: "r1")
        #expect(try rig.send(attested).event != nil)
        let hash = [UInt8](repeating: 1, count: 32)
        let object = device.assertion(clientDataHash: hash, counter: 1)
        let path = "v1/" + ExchangeKit.resource
        let plain = RequestRecords.value(
            verb: .verifyAssertion,
            object: object,
            keyID: device.keyID,
            clientDataHash: hash,
            path: path
        )
        let answers = try rig.send([
            attested, .challenge(), ExchangeRequest(plain, key: device.keyID.recordKey),
            .attestation(of: device, challenge: challenge, resource: "projects/x/apps/y"),
            ExchangeRequest(Array("no JSON".utf8)),
        ])
        #expect(answers.map(\.summary) == ["accepted", "accepted", "accepted", "unknown-app", nil])
        #expect(answers.allSatisfy { $0.event == nil })
    }

    @Test func `an event goes where its request was, with the trace headers`() throws {
        let rig = try ExchangeRig(ExchangeKit.settings(partitions: 4), partitions: 4)
        let device = FakeDevice(ExchangeKit.model, seed: 3)
        let trace = [RecordHeader("traceparent", "00-1-2-01"), RecordHeader("tracestate", "a=b")]
        let request = ExchangeRequest.attestation(of: device, challenge: try rig.challenge()).with(headers: trace)
        let answers = try rig.send(request)
        let home = ExchangeKit.partition(of: device.keyID.recordKey, 4)
        for output in answers.outputs {
            #expect(output.partition == home && output.key == device.keyID.recordKey)
            #expect(trace.allSatisfy { output.headers.contains($0) })
        }
        #expect(Set(answers.outputs.map(\.stream)) == [.results, .tokens, .events])
    }
}
