import AppAttest
import AppCheck
import Crypto
import DeviceLab
import JSON
import SimulationKit
import Streams
import TestKit
import Testing

/// Tokens, artifacts, challenges and keys appear on the tokens topic alone.
@Suite struct SecrecyTests {
    /// Mixed traffic, most of it refused somewhere, and the secrets that occurred in it.
    private struct Traffic {
        let rig: ExchangeRig
        var secrets = Secrets()
        var challenges: [[UInt8]] = []
        var artifacts: [[UInt8]] = []
        var tokens: [String] = []
        var requests: [ExchangeRequest] = []

        init() throws {
            rig = try ExchangeRig(
                ExchangeKit.settings(keys: ExchangeKit.keys(sealing: [1, 3], challenges: [2, 4]), partitions: 4) {
                    $0.rollout = Rollout(mode: .on, parts: 50_000_000)
                },
                partitions: 4
            )
            for seed: UInt8 in 1...4 { secrets.add(ExchangeKit.secretBytes(seed)) }
            for key in [ExchangeKit.rsa, ExchangeKit.p256] {
                let pem = String(decoding: try #require(key).pem, as: UTF8.self)
                secrets.add(text: pem)
                // The file's body, line by line.
                for line in pem.split(separator: "\n") where line.utf8.count >= 32 && !line.hasPrefix("--") {
                    secrets.add(text: String(line))
                }
            }
        }

        mutating func send(_ request: ExchangeRequest) throws -> ExchangeAnswers {
            requests.append(request)
            let answers = try rig.send(request)
            if let challenge = answers.challenge { challenges.append(challenge) }
            if let artifact = answers.artifact { artifacts.append(artifact) }
            if let token = answers.tokenText { tokens.append(token) }
            return answers
        }

        /// Every secret of the answers, and the parts that would be as good as the whole.
        mutating func gather() {
            for challenge in challenges { secrets.add(challenge) }
            for artifact in artifacts {
                secrets.add(artifact)
                // The key ID in it is not secret, the sealed part is.
                secrets.add(Array(artifact[49...]))
            }
            for token in tokens {
                secrets.add(text: token)
                for part in token.split(separator: ".").dropFirst() { secrets.add(text: String(part)) }
            }
        }
    }

    private static func traffic() throws -> Traffic {
        var traffic = try Traffic()
        for seed in UInt64(0)..<8 {
            var device = FakeDevice(ExchangeKit.model, seed: seed)
            let challenge = try traffic.send(.challenge(version: seed % 2 == 0 ? "v1" : "v1beta")).challenge ?? []
            let attested = ExchangeRequest.attestation(of: device, challenge: challenge)
            let artifact = try traffic.send(attested.with(id: "attestation-\(seed)")).artifact
            _ = try traffic.send(attested.with(id: "attestation-\(seed)"))
            _ = try traffic.send(attested)
            guard let artifact else { continue }
            let next = try traffic.send(.challenge()).challenge ?? []
            let asserted = ExchangeRequest.assertion(
                of: &device,
                artifact: artifact,
                challenge: next,
                limitedUse: seed % 2 == 0
            )
            let token = try traffic.send(asserted).tokenText ?? ""
            for request in try hostile(&device, artifact, next, token, asserted) { _ = try traffic.send(request) }
        }
        traffic.gather()
        return traffic
    }

    /// Refused requests with secrets, and records with secrets that are not requests.
    private static func hostile(
        _ device: inout FakeDevice,
        _ artifact: [UInt8],
        _ challenge: [UInt8],
        _ token: String,
        _ good: ExchangeRequest
    ) throws -> [ExchangeRequest] {
        let path = "v1/\(ExchangeKit.resource):exchangeAppAttestAssertion"
        let body = #"{"artifact":"\#(Secrets.standard(artifact))","challenge":"\#(Secrets.standard(challenge))"}"#
        var torn = good
        torn.value.removeLast()
        var misplaced = good
        misplaced.partition = (ExchangeKit.partition(of: good.key ?? [], 4) + 1) % 4
        var keyless = good
        keyless.key = nil
        return [
            .assertion(of: &device, artifact: artifact, challenge: challenge, fault: .signatureFlipped),
            .assertion(of: &device, artifact: artifact, challenge: challenge),
            ExchangeRequest(ExchangeRequest.value(path, body: Array(body.utf8)), key: good.key),
            ExchangeRequest(ExchangeRequest.value(path + "?token=\(token)", body: Array(body.utf8)), key: good.key),
            ExchangeRequest(ExchangeRequest.value(path + "#" + Secrets.standard(artifact), body: nil)),
            ExchangeRequest(Array(token.utf8)), ExchangeRequest(Array(body.utf8)), torn, misplaced, keyless, good,
            .verification(of: token), .verification(of: token), .verification(of: token + "A"),
            .verification(of: token, project: "projects/nobody"), .verification(of: "a.b.c"),
        ]
    }

    @Test func `no topic but that of tokens has a secret; a dead letter's value is the request itself`() throws {
        let traffic = try Self.traffic()
        #expect(traffic.tokens.count >= 8 && traffic.artifacts.count >= 8 && traffic.secrets.count > 200)
        var seen: Set<OutputTopic> = []
        for output in traffic.rig.streams.outputs where output.stream != .tokens {
            seen.insert(output.stream)
            var texts = output.headers.flatMap { [$0.name, $0.value ?? []] } + [output.key ?? []]
            if output.stream != .deadLetters { texts.append(output.value ?? []) }
            for text in texts {
                let found = traffic.secrets.firstFound(in: text)
                #expect(found == nil, "\(output.stream): \(String(decoding: text, as: UTF8.self))")
            }
        }
        #expect(seen == [.results, .events, .deadLetters])
        let letters = traffic.rig.streams.outputs.filter { $0.stream == .deadLetters }
        #expect(letters.allSatisfy { letter in traffic.requests.contains { $0.value == letter.value } })
        #expect(!traffic.rig.streams.ledger.isEmpty)
        for record in traffic.rig.streams.ledger {
            #expect(traffic.secrets.firstFound(in: record.key + (record.value ?? [])) == nil)
        }
    }

    @Test func `the search finds the secrets on the tokens topic: every token, artifact and challenge`() throws {
        let traffic = try Self.traffic()
        let answers = traffic.rig.streams.outputs.filter { $0.stream == .tokens }.compactMap(\.value)
        #expect(answers.allSatisfy { traffic.secrets.firstFound(in: $0) != nil })
        var one = Secrets()
        let secret = ExchangeKit.secretBytes(9)
        one.add(secret)
        for text in [Base64.encode(secret), Base64.encodeURL(secret), secret, Base64.encode([1] + secret)] {
            #expect(one.firstFound(in: Array("{\"a\":\"".utf8) + text) != nil)
        }
        let escaped = Base64.encode(secret).flatMap { $0 == UInt8(ascii: "/") ? [UInt8(ascii: "\\"), $0] : [$0] }
        #expect(one.firstFound(in: escaped) != nil)
        #expect(one.firstFound(in: Base64.encode(ExchangeKit.secretBytes(10))) == nil)
    }
}
