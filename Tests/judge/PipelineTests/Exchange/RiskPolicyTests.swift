import AppAttest
import AppCheck
import DeviceLab
import JSON
import Pipeline
import SimulationKit
import Streams
import TestKit
import Testing

/// Keys whose risk metric is too high: refused last of all, and nothing moves.
@Suite("Risk policy")
struct RiskPolicyTests {
    private static let day: Int64 = 86_400_000

    private static func settings(_ mode: RiskPolicy.Mode, above: UInt16?) throws -> PipelineSettings {
        var settings = try ExchangeKit.settings { ($0.risk.mode, $0.risk.above) = (mode, above) }
        settings.hasReceipts = true
        return settings
    }

    /// A rig with a registered device whose metric is set.
    private struct Known {
        let rig: ExchangeRig
        let device = FakeDevice(ExchangeKit.model, seed: 3)
        let artifact: [UInt8]
        /// When the metric's receipt was made.
        let made: Int64

        init(_ mode: RiskPolicy.Mode = .refuse, above: UInt16? = 5, metric: Int = 6) throws {
            rig = try ExchangeRig(settings(mode, above: above))
            artifact = try rig.register(device)
            made = rig.time
            let answers = try rig.send(receipt(metric, of: device, at: made))
            #expect(answers.verdict == "accepted")
            #expect((answers.event?["riskAbove"] != nil) == above.map { metric > Int($0) } ?? false)
        }

        /// The two verbs' assertions and the two verbs' attestations again.
        func requests() throws -> [ExchangeRequest] {
            var asserting = device
            return [
                try rig.assertion(of: &asserting, artifact), .verifyAssertion(of: device, counter: 1),
                try rig.attestation(of: device, at: rig.time), .verifyAttestation(of: device, at: rig.time),
            ]
        }
    }

    /// The receipt of a metric, made at a time.
    private static func receipt(_ metric: Int, of device: FakeDevice, at time: Int64) -> ExchangeRequest {
        let now = EvaluationTime(milliseconds: time)
        return .receipt(
            device.receipt(metric: metric, clientDataHash: ExchangeKit.clientDataHash, at: now),
            of: device
        )
    }

    /// What a batch leaves behind.
    private static func writes(_ answers: ExchangeAnswers, _ stream: OutputTopic) -> Int {
        answers.outputs.count { $0.stream == stream }
    }

    @Test(arguments: 0..<4)
    func `a metric above the limit refuses each verb of a known key, and moves nothing`(index: Int) throws {
        let known = try Known()
        let before = try #require(known.rig.key(known.device))
        let request = try known.requests()[index]
        let answers = try known.rig.send(request)
        #expect(answers.reason == "risk-too-high" && answers.code == 429)
        #expect(answers.result?["status"]?["status"]?.string == "RESOURCE_EXHAUSTED")
        #expect(answers.result?["evidence"]?["risk"]?["metric"]?.integer == 6)
        #expect(known.rig.key(known.device) == before, "neither counter nor last request nor nonce")
        for stream in [OutputTopic.tokens, .ledger, .receipts] { #expect(Self.writes(answers, stream) == 0) }
        let hasEvent = index == 0 || index == 2
        #expect(answers.eventName == (hasEvent ? "AppAttestNotAdmitted" : nil))
        #expect(answers.event?["reason"]?.string == (hasEvent ? "risk-too-high" : nil))
        // The same request is good as soon as the metric allows it: its challenge was not used up.
        #expect(try known.rig.replace(Self.settings(.refuse, above: 6)) == nil)
        #expect(try known.rig.send(request).verdict == "accepted")
    }

    @Test(arguments: 0..<4)
    func `a metric equal to the limit passes`(index: Int) throws {
        let known = try Known(metric: 5)
        let answers = try known.rig.send(try known.requests()[index])
        #expect(answers.verdict == "accepted" && answers.event?["riskAbove"] == nil)
    }

    @Test func `a metric refuses for 30 days from its receipt, by the record's time`() throws {
        for (after, refuses) in [(30 * Self.day - 3_600_000, true), (30 * Self.day + 1000, false)] {
            for index in 0..<4 {
                let known = try Known()
                known.rig.time = known.made + after
                let answers = try known.rig.send(try known.requests()[index])
                #expect(answers.summary == (refuses ? "risk-too-high" : "accepted"), "verb \(index) after \(after) ms")
            }
        }
    }

    @Test func `a request with another fault is refused for that one`() throws {
        let known = try Known()
        let late = try known.rig.send(.verifyAssertion(of: known.device, counter: 0))
        #expect(late.reason == "counter-not-greater")
        var device = known.device
        let used = try known.rig.challenge()
        let bad = ExchangeRequest.assertion(of: &device, artifact: known.artifact, challenge: Array(used.dropLast()))
        #expect(try known.rig.send(bad).reason == "challenge-invalid")
        let older = try known.rig.send(.verifyAttestation(of: known.device, at: known.made - Self.day))
        #expect(older.reason == "challenge-consumed")
    }

    @Test func `the duplicate of an accepted request gets its answer whatever the metric is by then`() throws {
        var (rig, device, artifact) = try ExchangeRig.registered(Self.settings(.refuse, above: 5))
        let request = try rig.assertion(of: &device, artifact).with(id: "same")
        #expect(try rig.send(request).verdict == "accepted")
        #expect(try rig.send(Self.receipt(20, of: device, at: rig.time)).verdict == "accepted")
        let again = try rig.send(request)
        #expect(again.verdict == "accepted" && again.isDuplicate)
        #expect(try rig.send(request.with(id: "other")).reason != nil, "another request is no duplicate")
    }

    @Test func `a new key passes, and a lower metric serves the key again`() throws {
        let known = try Known()
        let other = FakeDevice(ExchangeKit.model, seed: 4)
        _ = try known.rig.register(other)
        let request = try known.requests()[1]
        #expect(try known.rig.send(request).reason == "risk-too-high")
        known.rig.time += 2000
        let lower = try known.rig.send(Self.receipt(1, of: known.device, at: known.rig.time))
        #expect(lower.verdict == "accepted" && lower.event?["previousMetric"]?.integer == 6)
        #expect(try known.rig.send(request).verdict == "accepted")
    }

    @Test(arguments: [UInt16?.none, 5, 6])
    func `report serves every key and marks those above alone`(above: UInt16?) throws {
        let known = try Known(.report, above: above)
        for (index, request) in try known.requests().enumerated() where index != 1 {
            let answers = try known.rig.send(request)
            #expect(answers.verdict == "accepted")
            #expect((answers.event?["riskAbove"] != nil) == (above == 5 && answers.event != nil))
        }
    }

    @Test func `where the mode is off the limit says nothing, and a kept metric neither`() throws {
        let known = try Known()
        let requests = try known.requests()
        #expect(try known.rig.replace(Self.settings(.off, above: 5)) == nil)
        let answers = try known.rig.send(requests[0])
        #expect(answers.verdict == "accepted" && answers.event?["riskAbove"] == nil)
        #expect(answers.result?["evidence"]?["risk"] == nil)
    }

    @Test func `metrics are counted by app, one for each receipt that is no duplicate`() throws {
        let known = try Known()
        #expect(try known.rig.send(Self.receipt(6, of: known.device, at: known.made)).isDuplicate)
        let old = Self.receipt(6, of: known.device, at: known.made - 1000)
        #expect(try known.rig.send(old).reason == "receipt:superseded")
        known.rig.time += 1000
        #expect(try known.rig.send(Self.receipt(70, of: known.device, at: known.made + 1000)).verdict == "accepted")
        let counts = known.rig.loop.tally.answers.counts
        func count(_ event: AnswerCounts.Event) -> Int? {
            counts[AnswerCounts.Key(app: 0, verb: .verifyReceipt, event: event)]
        }
        // Buckets: up to 1, 2, 3, 5, 8, 13, 20, 50, and above.
        #expect((0..<10).map { count(.risk(bucket: $0)) } == [nil, nil, nil, nil, 1, nil, nil, nil, 1, nil])
        #expect(count(.riskSum) == 76)
    }
}
