internal import AppCheck
internal import Foundation
internal import JSON
internal import Kafka
internal import Pipeline
internal import Settings
internal import Streams
internal import TestKit
internal import Testing
internal import Traffic

@testable internal import Lab

/// `simulate` with all verbs, and what `replay` makes of it.
@Suite("simulate")
struct SimulateTests {
    private static let start = "2026-11-20T12:00:00Z"
    private static let plain: [Verb] = [.verifyAttestation, .verifyAssertion]
    private static let exchange: [Verb] = [
        .generateAppAttestChallenge, .exchangeAppAttestAttestation, .exchangeAppAttestAssertion, .verifyAppCheckToken,
    ]
    private static let mixes: [[Verb]] =
        [plain, exchange, Verb.simulated, [.exchangeAppAttestAttestation, .exchangeAppAttestAssertion]]
        + (plain + exchange).map { [$0] } + [
            [.verifyAttestation, .exchangeAppAttestAssertion], [.verifyAssertion, .verifyAppCheckToken],
        ]

    private let folder: SimulationFolder

    init() throws { folder = try SimulationFolder.configured() }

    private static func names(_ verbs: [Verb]) -> String { verbs.map(\.rawValue).joined(separator: ",") }

    /// Makes a capture, and returns its plans.
    private func made(
        _ verbs: [Verb],
        devices: Int = 20,
        records: Int = 300,
        faults: Double = 0
    ) throws -> (records: [InboundRecord], plans: [SimulationPlan]) {
        let load = ["--devices", "\(devices)", "--records", "\(records)", "--faults", "\(faults)", "--rate", "10"]
        let capture = try folder.capture(["--verbs", Self.names(verbs), "--start", Self.start] + load)
        let configuration = try Configuration.load(directory: folder.config)
        var settings = SimulationSettings(devices: devices, records: records)
        settings.verbs = Set(verbs)
        settings.faultShare = faults
        settings.rate = 10
        settings.start = 1_795_176_000_000
        settings.challengeLife =
            configuration.challenges.mode == .sealed ? configuration.challenges.ttlMilliseconds : nil
        let apps = configuration.registry.apps.compactMap(SimulatedApp.init)
        return (capture, SimulationPlan.plans(apps, try NewConfiguration.authority(of: folder.config), settings))
    }

    /// Compares the outcomes of a replay with the plans of the apps, which take turns.
    ///
    /// - Returns: how often each reason came.
    @discardableResult
    private func expectPlanned(_ plans: [SimulationPlan], records: Int) throws -> [String: Int] {
        let outcomes = try folder.outcomes()
        #expect(outcomes.count == records)
        var reasons: [String: Int] = [:]
        for index in 0..<records {
            let (plan, own) = (plans[index % plans.count], index / plans.count)
            let (step, expected) = (plan.step(own), plan.expected(own))
            #expect(outcomes["sim-1-\(index)"] == expected, "\(index) \(step)")
            #expect((step.fault != nil) == (expected != "accepted"))
            if step.fault != nil { reasons[expected, default: 0] += 1 }
        }
        return reasons
    }

    @Test(arguments: mixes)
    func `without faults every record is accepted, and each device attests first`(verbs: [Verb]) throws {
        let (records, _) = try made(verbs)
        let outcomes = try folder.outcomes()
        #expect(records.count == 300 && outcomes.count == 300)
        #expect(outcomes.values.allSatisfy { $0 == "accepted" }, "\(outcomes.filter { $0.value != "accepted" })")
        var attested: Set<[UInt8]> = []
        var sent: Set<String> = []
        for record in records {
            let verb = try Self.verb(of: record)
            sent.insert(verb)
            if verb == Verb.generateAppAttestChallenge.rawValue {
                #expect(record.key == nil)
            } else if verb != Verb.verifyAppCheckToken.rawValue {
                let key = try #require(record.key)
                let isFirst = attested.insert(key).inserted
                let isAttestation = verb.hasSuffix("Attestation")
                #expect(isAttestation || !isFirst, "\(verb) before the device has attested")
            }
        }
        #expect(attested.count == 20)
        #expect(sent.isSuperset(of: verbs.map(\.rawValue)), "\(sent)")
    }

    private static func verb(of record: InboundRecord) throws -> String {
        let path = try #require(try record.json["path"]?.string)
        return String(path.split(separator: ":").last ?? "")
    }

    @Test(arguments: mixes)
    func `each faulty record is refused for its own reason, all others are accepted`(verbs: [Verb]) throws {
        let count = verbs == Verb.simulated || verbs == Self.plain ? 900 : 400
        let (_, plans) = try made(verbs, records: count, faults: 0.4)
        let reasons = try expectPlanned(plans, records: count)
        #expect(reasons.values.reduce(0, +) > count / 4)
        #expect((0..<20).allSatisfy { plans[0].step($0).fault == nil }, "a device's first attestation")
        if verbs == Verb.simulated {
            let ours = [
                "challenge-invalid", "challenge-expired", "challenge-consumed", "artifact-invalid", "token-invalid",
                "unknown-app", "counter-not-greater",
            ]
            #expect(Set(reasons.keys).isSuperset(of: ours), "\(reasons)")
        }
    }

    @Test func `devices follow their app's rules, and their faults are refused`() throws {
        let rules = [
            #""environments":["development"],"categories":{"allow":[3],"whenMissing":"refuse"}"#,
            #""environments":["production","development"],"receipt":"require","macOS":{"acl":"accept"}"#,
            #""bundleVersions":{"allow":["7.1"],"whenMissing":"refuse"},"receipt":"ignore""#,
        ]
        let apps = rules.enumerated().map { #"{"appId":"app-\#($0)","appleAppIds":["T.a\#($0)","T.b\#($0)"],\#($1)}"# }
        let list = apps.joined(separator: ",")
        try folder.write(#"{"projects":[{"number":"1","apps":[\#(list)]}]}"#, to: "config/apps.json")
        let (_, plans) = try made(Self.plain, devices: 31, records: 1000, faults: 0.3)
        #expect(plans.count == 3)
        #expect(try expectPlanned(plans, records: 1000).values.reduce(0, +) > 100)
    }

    @Test func `a token's second use is accepted and reported as consumed, its first use is not`() throws {
        let (_, plans) = try made([.verifyAppCheckToken], devices: 10, records: 300)
        try folder.replayed()
        var again = 0
        for result in try folder.results() {
            let id = try #require(result["requestId"]?.string)
            let step = plans[0].step(try #require(Int(id.dropFirst("sim-1-".count))))
            guard step.verb == .verifyAppCheckToken else { continue }
            let isConsumed = result["response"]?["alreadyConsumed"]?.bool ?? false
            #expect(isConsumed == (step.repeats != nil), "\(id)")
            if isConsumed { again += 1 }
        }
        #expect(again > 20, "\(again)")
    }

    @Test func `with ES256 only the records that hold a token differ from run to run`() throws {
        try folder.edit("config/apps.json", "RS256", "ES256")
        func tokenless(_ records: [InboundRecord]) throws -> [InboundRecord] {
            try records.filter { try Self.verb(of: $0) != Verb.verifyAppCheckToken.rawValue }
        }
        let keyless = folder.simulate(SimulationFolder.least + ["--verbs", "verifyAppCheckToken"])
        #expect(keyless.code == 2 && keyless.transcript.error.contains("has no active ES256 signing key"))
        try Transcript.done(["new-keys", "--config", folder.config, "--only", "signing", "--add"])
        let (first, second) = (try made(Self.exchange).records, try made(Self.exchange).records)
        #expect(try tokenless(first) == tokenless(second))
        #expect(try tokenless(first).count < first.count)
        #expect(try folder.outcomes().values.allSatisfy { $0 == "accepted" })
    }

    @Test func `bodies are the SDK's: snake_case, the project's id, members in any order`() throws {
        var orders: Set<[String]> = []
        for record in try made(Self.exchange).records {
            let root = try record.json
            let verb = try Self.verb(of: record)
            let names = root["body"]?.members.map { String(decoding: $0.name, as: UTF8.self) } ?? []
            let expected: [String: Set<String>] = [
                "generateAppAttestChallenge": [],
                "exchangeAppAttestAttestation": ["key_id", "attestation_statement", "challenge", "limited_use"],
                "exchangeAppAttestAssertion": ["artifact", "assertion", "challenge", "limited_use"],
                "verifyAppCheckToken": ["app_check_token"],
            ]
            #expect(Set(names) == expected[verb])
            if verb == "exchangeAppAttestAttestation" { orders.insert(names) }
            let path = try #require(root["path"]?.string)
            #expect(
                path.hasPrefix(
                    verb == "verifyAppCheckToken" ? "/v1beta/projects/lab-project:" : "/v1/projects/lab-project/apps/"
                )
            )
            let hasInstallation = record.headers.contains { $0.name == Array("installation-id".utf8) }
            #expect(hasInstallation == (verb != "verifyAppCheckToken"))
        }
        #expect(orders.count > 10)
    }

    @Test func `records have canonical keys on their murmur2 partitions, and times`() throws {
        let load = ["--devices", "10", "--records", "200", "--start", Self.start, "--rate", "4"]
        for (index, record) in try folder.capture(load).enumerated() {
            let key = try #require(record.key)
            #expect(key.count == 44 && record.topic == "appattest.requests")
            #expect(record.partition == Kafka.Partitioner.murmur2.partition(of: key, count: 4))
            #expect(record.timestamp == 1_795_176_000_000 + Int64(index) * 250)
            #expect(record.headers.map(\.name) == [Array("request-id".utf8)])
        }
    }

    @Test func `the last record's time is now, unless a start is given`() throws {
        let before = timeOfDay()
        let records = try folder.capture(["--devices", "2", "--records", "50"])
        let after = timeOfDay()
        let last = try #require(records.last)
        #expect((before...after).contains(last.timestamp))
        #expect(records[0].timestamp == last.timestamp - 49)
    }

    @Test func `OAuth clients' devices use their own resource, always with limited use`() throws {
        let clients = #""oauthClientIds": ["1-a.apps.googleusercontent.com"]"#
        try folder.edit("config/apps.json", #""rollout""#, clients + #", "rollout""#)
        let (records, plans) = try made(Self.exchange, faults: 0.3)
        try expectPlanned(plans, records: 300)
        let texts = records.map { String(decoding: $0.value ?? [], as: UTF8.self) }
        let theirs = texts.filter { $0.contains("/v1/oauthClients/1-a") }
        #expect(theirs.count > 40)
        #expect(theirs.allSatisfy { !$0.contains(#""limited_use":false"#) })
    }

    @Test func `where the gateway makes the challenges, simulate seals none and refuses the verb`() throws {
        try folder.edit("config/worker.json", #""challenges": {"#, #""challenges": {"mode": "external", "#)
        let verbs: [Verb] = [.exchangeAppAttestAttestation, .exchangeAppAttestAssertion]
        let (_, plans) = try made(verbs, faults: 0.3)
        #expect(plans[0].challengeLife == nil)
        try expectPlanned(plans, records: 300)
        let (code, transcript) = folder.simulate(SimulationFolder.least + ["--verbs", "generateAppAttestChallenge"])
        #expect(code == 2 && transcript.error.contains("challenges.mode is external"))
    }

    @Test(arguments: [("sealingKeys", "sealing key"), ("signingKeys", "RS256"), ("challenges", "challenge key")])
    func `a missing key that the verbs need is named`(list: String, name: String) throws {
        let text = Data(try folder.bytes("config/worker.json"))
        var worker = try #require(try JSONSerialization.jsonObject(with: text) as? [String: Any])
        worker[list] = nil
        try folder.write(Array(JSONSerialization.data(withJSONObject: worker)), to: "config/worker.json")
        let (code, transcript) = folder.simulate(SimulationFolder.least + ["--verbs", Self.names(Self.exchange)])
        #expect(code == 2 && transcript.error.contains(name) && transcript.error.contains("new-keys"))
        #expect(transcript.error.filter(\.isNewline).count == 1)
    }

    @Test func `an unwritable capture ends with exit code 1`() throws {
        let load = ["--devices", "1", "--records", "1", "--output", folder.file("no/such/folder/x")]
        let (code, transcript) = folder.simulate(load)
        #expect(code == 1 && transcript.error.contains("cannot write"))
    }

    @Test func `an app whose rules no fake device can meet is named`() throws {
        let apps = #"{"projects":[{"number":"1","apps":[{"appId":"odd","appleAppIds":[]}]}]}"#
        try folder.write(apps, to: "config/apps.json")
        let (code, transcript) = folder.simulate(SimulationFolder.least)
        #expect(code == 2 && transcript.error.contains("projects/1/apps/odd"))
    }
}
