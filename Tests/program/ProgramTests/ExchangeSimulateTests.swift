import AppCheck
import Foundation
import JSON
import Pipeline
import Settings
import Streams
import TestKit
import Testing
import Traffic

@testable import Lab

/// `simulate` with the exchange's verbs, and what `replay` makes of it.
@Suite("simulate: the exchange")
struct ExchangeSimulateTests {
    static let start = "2026-11-20T12:00:00Z"
    static let exchange: [Verb] = [
        .generateAppAttestChallenge, .exchangeAppAttestAttestation, .exchangeAppAttestAssertion, .verifyAppCheckToken,
    ]
    static let mixes: [[Verb]] =
        [exchange, Verb.simulated, [.exchangeAppAttestAttestation, .exchangeAppAttestAssertion]]
        + exchange.map { [$0] } + [
            [.verifyAttestation, .exchangeAppAttestAssertion], [.verifyAssertion, .verifyAppCheckToken],
        ]

    private static func names(_ verbs: [Verb]) -> String { verbs.map(\.rawValue).joined(separator: ",") }

    /// Makes a capture, and returns its plans.
    private func made(
        _ folder: SimulationFolder,
        _ verbs: [Verb],
        devices: Int = 20,
        records: Int = 300,
        faults: Double = 0,
        isNew: Bool = true
    ) throws -> (records: [InboundRecord], plans: [SimulationPlan]) {
        let load = ["--devices", "\(devices)", "--records", "\(records)", "--faults", "\(faults)", "--rate", "10"]
        let capture = try folder.capture(
            ["--verbs", Self.names(verbs), "--start", Self.start] + load + (isNew ? ["--new-config"] : [])
        )
        let configuration = try Configuration.load(directory: folder.path + "/config")
        var settings = SimulationSettings(devices: devices, records: records)
        settings.verbs = Set(verbs)
        settings.faultShare = faults
        settings.rate = 10
        settings.start = 1_795_176_000_000
        settings.challengeLife =
            configuration.challenges.mode == .sealed ? configuration.challenges.ttlMilliseconds : nil
        let ca = try NewConfiguration.authority(of: folder.path + "/config")
        let apps = configuration.registry.apps.compactMap(SimulatedApp.init)
        return (capture, SimulationPlan.plans(apps, ca, settings))
    }

    @Test(arguments: mixes)
    func `without faults every record is accepted, and each device attests first`(verbs: [Verb]) throws {
        let folder = try SimulationFolder()
        let (records, _) = try made(folder, verbs)
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
        let path = try #require(try JSONDocument(parsing: record.value ?? []).root["path"]?.string)
        return String(path.split(separator: ":").last ?? "")
    }

    @Test(arguments: mixes)
    func `each faulty record is refused for its own reason, all others are accepted`(verbs: [Verb]) throws {
        let folder = try SimulationFolder()
        let count = verbs.count == Verb.simulated.count ? 900 : 400
        let (_, plans) = try made(folder, verbs, records: count, faults: 0.4)
        let outcomes = try folder.outcomes()
        var reasons: Set<String> = []
        var faulty = 0
        for index in 0..<count {
            let expected = plans[0].expected(index)
            let step = plans[0].step(index)
            #expect(outcomes["sim-1-\(index)"] == expected, "\(index) \(step)")
            reasons.insert(expected)
            if step.fault != nil {
                faulty += 1
                #expect(expected != "accepted" && index >= 20)
            }
        }
        #expect(faulty > count / 4)
        if verbs.count == Verb.simulated.count {
            let ours = [
                "challenge-invalid", "challenge-expired", "challenge-consumed", "artifact-invalid", "token-invalid",
                "unknown-app", "counter-not-greater",
            ]
            #expect(reasons.isSuperset(of: ours), "\(reasons)")
        }
    }

    @Test func `a token's second use is accepted and reported as consumed, its first use is not`() throws {
        let folder = try SimulationFolder()
        let (_, plans) = try made(folder, [.verifyAppCheckToken], devices: 10, records: 300)
        _ = try folder.outcomes()
        var again = 0
        for record in try folder.captured("out/results.ndjson") {
            let result = try JSONDocument(parsing: record.value ?? []).root
            let id = try #require(result["requestId"]?.string)
            let step = plans[0].step(try #require(Int(id.dropFirst("sim-1-".count))))
            guard step.verb == .verifyAppCheckToken else { continue }
            let isConsumed = result["response"]?["alreadyConsumed"]?.bool ?? false
            #expect(isConsumed == (step.repeats != nil), "\(id)")
            if isConsumed { again += 1 }
        }
        #expect(again > 20, "\(again)")
    }

    @Test func `same directory, seed and start give the same bytes; another seed gives others`() throws {
        let folder = try SimulationFolder()
        let first = try made(folder, Verb.simulated, faults: 0.3).records
        #expect(try made(folder, Verb.simulated, faults: 0.3, isNew: false).records == first)
        let other = try folder.capture([
            "--devices", "20", "--records", "300", "--faults", "0.3", "--verbs", Self.names(Verb.simulated),
            "--start",
            Self.start, "--rate", "10", "--seed", "2",
        ])
        #expect(other != first)
        #expect(Set(first.map { $0.headers.first?.value ?? [] }).count == 300)
    }

    @Test func `with ES256 only the records that hold a token differ from run to run`() throws {
        let folder = try SimulationFolder()
        _ = try made(folder, [.verifyAssertion])
        let file = "config/apps.json"
        let text = String(decoding: try folder.bytes(file), as: UTF8.self)
        try folder.write(text.replacing("RS256", with: "ES256"), to: file)
        func tokenless(_ records: [InboundRecord]) throws -> [InboundRecord] {
            try records.filter { try Self.verb(of: $0) != Verb.verifyAppCheckToken.rawValue }
        }
        let verbs = Self.exchange
        let keyless = folder.simulate([
            "--devices", "1", "--records", "1", "--output", "/dev/null", "--verbs", "verifyAppCheckToken",
        ])
        #expect(keyless.code == 2 && keyless.transcript.error.contains("has no active ES256 signing key"))
        let keys = ["new-keys", "--config", folder.path + "/config", "--only", "signing", "--add"]
        try #require(Transcript.run(keys).code == 0)
        let (first, second) = (
            try made(folder, verbs, isNew: false).records, try made(folder, verbs, isNew: false).records
        )
        #expect(try tokenless(first) == tokenless(second))
        #expect(try tokenless(first).count < first.count)
        #expect(try folder.outcomes().values.allSatisfy { $0 == "accepted" })
    }

    @Test func `bodies are the SDK's: snake_case, escaped slashes, the project's id, members in any order`() throws {
        let folder = try SimulationFolder()
        var orders: Set<[String]> = []
        for record in try made(folder, Self.exchange).records {
            let text = String(decoding: record.value ?? [], as: UTF8.self)
            let root = try JSONDocument(parsing: record.value ?? []).root
            let verb = try Self.verb(of: record)
            let names = root["body"]?.members.map { String(decoding: $0.name, as: UTF8.self) } ?? []
            let expected: [String: Set<String>] = [
                "generateAppAttestChallenge": [],
                "exchangeAppAttestAttestation": ["key_id", "attestation_statement", "challenge", "limited_use"],
                "exchangeAppAttestAssertion": ["artifact", "assertion", "challenge", "limited_use"],
                "verifyAppCheckToken": ["app_check_token"],
            ]
            #expect(Set(names) == expected[verb])
            if verb == "exchangeAppAttestAttestation" {
                orders.insert(names)
                #expect(text.contains("\\/"), "an attestation has a slash in its base64")
            }
            #expect(!text.replacing("\\/", with: "").drop { $0 != "{" }.contains(where: { $0 == "\n" }))
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

    @Test func `OAuth clients' devices use their own resource, always with limited use`() throws {
        let folder = try SimulationFolder()
        _ = try made(folder, [.verifyAssertion])
        let text = String(decoding: try folder.bytes("config/apps.json"), as: UTF8.self)
        try folder.write(
            text.replacing(#""rollout""#, with: #""oauthClientIds": ["1-a.apps.googleusercontent.com"], "rollout""#),
            to: "config/apps.json"
        )
        let (records, plans) = try made(folder, Self.exchange, faults: 0.3, isNew: false)
        let outcomes = try folder.outcomes()
        for index in records.indices { #expect(outcomes["sim-1-\(index)"] == plans[0].expected(index)) }
        let theirs = records.filter { String(decoding: $0.value ?? [], as: UTF8.self).contains("/v1/oauthClients/1-a") }
        #expect(theirs.count > 40)
        for record in theirs {
            #expect(!String(decoding: record.value ?? [], as: UTF8.self).contains(#""limited_use":false"#))
        }
    }

    @Test func `where the gateway makes the challenges, simulate seals none and refuses the verb`() throws {
        let folder = try SimulationFolder()
        _ = try made(folder, [.verifyAssertion])
        let text = String(decoding: try folder.bytes("config/worker.json"), as: UTF8.self)
        try folder.write(
            text.replacing(#""challenges":{"#, with: #""challenges":{"mode":"external","#)
                .replacing(#""challenges": {"#, with: #""challenges": {"mode":"external","#),
            to: "config/worker.json"
        )
        let verbs: [Verb] = [.exchangeAppAttestAttestation, .exchangeAppAttestAssertion]
        let (records, plans) = try made(folder, verbs, faults: 0.3, isNew: false)
        #expect(plans[0].challengeLife == nil)
        let outcomes = try folder.outcomes()
        for index in records.indices { #expect(outcomes["sim-1-\(index)"] == plans[0].expected(index)) }
        let (code, transcript) = folder.simulate([
            "--devices", "1", "--records", "1", "--output", "/dev/null", "--verbs", "generateAppAttestChallenge",
        ])
        #expect(code == 2)
        #expect(transcript.error.contains("challenges.mode is external"))
    }

    @Test(arguments: ["sealingKeys", "signingKeys", "challenges"])
    func `a missing key that the verbs need is named`(list: String) throws {
        let folder = try SimulationFolder()
        _ = try made(folder, [.verifyAssertion])
        let file = folder.path + "/config/worker.json"
        var worker = try #require(
            try JSONSerialization.jsonObject(with: Data(contentsOf: URL(filePath: file))) as? [String: Any]
        )
        worker[list] = nil
        try JSONSerialization.data(withJSONObject: worker).write(to: URL(filePath: file))
        let (code, transcript) = folder.simulate([
            "--devices", "1", "--records", "1", "--output", "/dev/null", "--verbs", Self.names(Self.exchange),
        ])
        #expect(code == 2)
        #expect(
            transcript.error.contains(
                list == "challenges" ? "challenge key" : list == "sealingKeys" ? "sealing key" : "RS256"
            )
        )
        #expect(transcript.error.contains("new-keys"))
        #expect(transcript.error.filter(\.isNewline).count == 1)
    }
}
