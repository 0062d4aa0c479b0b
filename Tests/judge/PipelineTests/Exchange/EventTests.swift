import AppAttest
import AppCheck
import DeviceLab
import JSON
import Pipeline
import SimulationKit
import Streams
import TestKit
import Testing

@Suite struct EventTests {
    private static func members(_ answers: ExchangeAnswers) -> [String] {
        answers.event?.members.map { String(decoding: $0.name, as: UTF8.self) } ?? []
    }

    @Test func `a success has exactly the members of the contract`() throws {
        let settings = try ExchangeKit.settings { $0.rollout = Rollout(mode: .shadow, parts: 10_000_000) }
        var (rig, device) = try ExchangeRig.fresh(settings)
        let request = try rig.attestation(of: device).with(id: "r-1")
        let attested = try rig.send(request)
        #expect(
            Self.members(attested) == [
                "event", "app", "method", "requestId", "limitedUse", "bucket", "percent", "device", "platform",
                "osVersion", "bundleVersion", "at",
            ]
        )
        let event = try #require(attested.event)
        #expect(event["app"]?.string == ExchangeKit.name)
        #expect(event["method"]?.string == "exchangeAppAttestAttestation")
        #expect(event["requestId"]?.string == "r-1")
        #expect(event["limitedUse"]?.bool == false)
        #expect(event["percent"]?.numberText == "10")
        for name in ["platform", "osVersion", "bundleVersion"] as [StaticString] {
            let verified = attested.result?["evidence"]?[name]?.string
            #expect(verified != nil && event[name]?.string == verified)
        }
        #expect(event["at"]?.string == attested.result?["evaluatedAt"]?.string)
        let artifact = try #require(attested.artifact)
        let asserted = try rig.refresh(&device, artifact, limitedUse: true)
        #expect(
            Self.members(asserted) == [
                "event", "app", "method", "requestId", "limitedUse", "device", "bundleVersion", "at",
            ]
        )
        #expect(asserted.event?["method"]?.string == "exchangeAppAttestAssertion")
        #expect(asserted.event?["limitedUse"]?.bool == true)
    }

    @Test func `a failure has its reason, also if the request was refused for its shape`() throws {
        let (rig, device) = try ExchangeRig.fresh()
        let bad = try rig.send(rig.attestation(of: device, limitedUse: true, fault: .nonceFlipped))
        #expect(
            Self.members(bad) == [
                "event", "app", "method", "reason", "requestId", "limitedUse", "device", "platform", "osVersion",
                "bundleVersion", "at",
            ]
        )
        #expect(bad.event?["platform"]?.string == "iphoneos")
        #expect(bad.eventName == "AppAttestFailure" && bad.event?["reason"]?.string == "nonce-mismatch")
        #expect(bad.event?["limitedUse"]?.bool == true)
        let path = "v1/\(ExchangeKit.resource):exchangeAppAttestAttestation"
        let shapeless = try rig.send(ExchangeRequest(ExchangeRequest.value(path, body: Array("{}".utf8))))
        #expect(shapeless.eventName == "AppAttestFailure")
        #expect(shapeless.event?["reason"]?.string == "malformed-request")
        #expect(shapeless.event?["platform"] == nil && shapeless.event?["bundleVersion"] == nil)
    }

    @Test(arguments: ["key-mismatch", "too-old", "from-future"])
    func `an answer of 503 is not a failure of the device`(reason: String) throws {
        let (rig, device) = try ExchangeRig.fresh()
        var request = try rig.attestation(of: device)
        switch reason {
        case "key-mismatch": request.key = Array("elsewhere".utf8)
        case "too-old": request.timestamp = rig.time - 97 * 3_600_000
        default: request.timestamp = rig.time + 301_000
        }
        let answers = try rig.send(request)
        #expect(answers.reason == reason && answers.code == 503 && answers.event == nil)
        #expect(rig.loop.tally.refused[reason] == 1)
    }

    @Test func `a device has one name in all its events: by its installation, otherwise by its key`() throws {
        let rig = try ExchangeRig(ExchangeKit.settings())
        let header = [RecordHeader("installation-id", "i-1")]
        func device(_ seed: UInt64, _ headers: [RecordHeader]) throws -> String? {
            let device = FakeDevice(ExchangeKit.model, seed: seed)
            let request = try rig.attestation(of: device, fault: .nonceFlipped)
            return try rig.send(request.with(headers: headers)).event?["device"]?.string
        }
        let installed = try device(3, header)
        #expect(try device(4, header) == installed)
        // SHA-256 of "i-1", by sha256sum.
        #expect(installed == "f105b11df43d5d32")
        let keyed = try device(3, [])
        #expect(try device(3, []) == keyed && device(4, []) != keyed && keyed != installed)
        #expect(keyed?.count == 16)
    }

    @Test func `refusals without an event are counted by app, verb and reason`() throws {
        let (rig, device) = try ExchangeRig.fresh(ExchangeKit.settings { $0.rollout = Rollout(mode: .on, parts: 0) })
        let handshake = [RecordHeader("handshake", "attestation"), RecordHeader("installation-id", "i")]
        func call(_ path: String) -> ExchangeRequest {
            ExchangeRequest(ExchangeRequest.value(path, body: Array("{}".utf8)))
        }
        let answers = try rig.send([
            ExchangeRequest.challenge().with(headers: handshake), .challenge(),
            .attestation(of: device, challenge: [7], resource: "projects/x/apps/y"),
            call("v1/\(ExchangeKit.resource):exchangeDebugToken"),
            call("v1/\(ExchangeKit.resource):exchangeDebugToken"),
            .verification(of: "a.e30.b", key: Array("j".utf8)),
        ])
        #expect(
            answers.map(\.summary) == [
                "rollout-not-admitted", "accepted", "unknown-app", "unknown-method", "unknown-method", "token-invalid",
            ]
        )
        #expect(answers.allSatisfy { $0.event == nil })
        typealias Key = RefusalCounts.Key
        let counts: [(Key, Int)] = [
            (Key(app: ExchangeKit.name, verb: .generateAppAttestChallenge, reason: .rolloutNotAdmitted), 1),
            (Key(app: nil, verb: .exchangeAppAttestAttestation, reason: .unknownApp), 1),
            (Key(app: ExchangeKit.name, verb: nil, reason: .unknownMethod), 2),
            (Key(app: nil, verb: .verifyAppCheckToken, reason: .tokenInvalid), 1),
        ]
        for (key, count) in counts { #expect(rig.loop.tally.refusals[key] == count, "\(key)") }
        #expect(rig.loop.tally.refusals.counts.count == counts.count)
    }

    @Test func `other verbs, unregistered apps, duplicates and dead letters have no event`() throws {
        let (rig, device) = try ExchangeRig.fresh()
        let challenge = try rig.challenge()
        let attested = ExchangeRequest.attestation(of: device, challenge: challenge).with(id: "r1")
        #expect(try rig.send(attested).event != nil)
        let answers = try rig.send([
            attested, .challenge(), .verifyAssertion(of: device, counter: 1),
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
        let request = try rig.attestation(of: device).with(headers: trace)
        let answers = try rig.send(request)
        let home = ExchangeKit.partition(of: device.keyID.recordKey, 4)
        for output in answers.outputs {
            #expect(output.partition == home && output.key == device.keyID.recordKey)
            #expect(trace.allSatisfy { output.headers.contains($0) })
        }
        #expect(Set(answers.outputs.map(\.stream)) == [.results, .tokens, .events])
    }
}
