import AppAttest
import AppCheck
import DeviceLab
import JSON
import SimulationKit
import Streams
import TestKit
import Testing

/// Facts of firebase-contract.json that take the whole pipeline, from the REST call to the answer.
@Suite struct GoldenFactTests {
    private static let cases = FirebaseContract.node("resourceNames", "cases")?.elements ?? []

    /// The names of members, in order, inner objects in brackets; the order of members is not a fact.
    private static func shape(_ node: JSONNode?) -> [String] {
        (node?.members ?? []).map { member in
            let name = String(decoding: member.name, as: UTF8.self)
            let inner = member.value.kind == .object ? "(\(shape(member.value).joined(separator: " ")))" : ""
            return name + inner
        }.sorted()
    }

    @Test(arguments: cases.indices) func `a path resolves as the contract says`(index: Int) throws {
        let fact = Self.cases[index]
        let path = try #require(FirebaseContract.text(fact, "path"))
        let rig = try ExchangeRig(ExchangeKit.settings())
        let answers = try rig.send(ExchangeRequest(ExchangeRequest.value(path, body: Array("{}".utf8))))
        #expect(answers.result?["path"]?.string == path)
        if let code = fact["expect"]?.integer {
            #expect(answers.code == code)
        } else if FirebaseContract.text(fact, "verb") == "generateAppAttestChallenge" {
            #expect(answers.verdict == "accepted")
        } else {
            // Known, and its body is empty.
            #expect(answers.reason == "malformed-request")
            #expect(answers.event?["app"]?.string == ExchangeKit.name)
            #expect(answers.event?["method"]?.string == FirebaseContract.text(fact, "verb"))
        }
    }

    @Test(arguments: ["v1", "v1beta"]) func `answers have the members of the contract`(version: String) throws {
        let rig = try ExchangeRig(ExchangeKit.settings())
        var device = FakeDevice(ExchangeKit.model, seed: 3)
        let made = try rig.send(.challenge(version: version))
        let method = FirebaseContract.node("methods")
        #expect(Self.shape(made.answer) == Self.shape(method?["generateAppAttestChallenge"]?["response"]))
        #expect(made.ttl == FirebaseContract.text(method?["generateAppAttestChallenge"]?["response"], "ttl"))
        let attested = try rig.send(
            .attestation(of: device, challenge: try #require(made.challenge), version: version)
        )
        let member: StaticString = version == "v1" ? "responseV1" : "responseV1beta"
        #expect(Self.shape(attested.answer) == Self.shape(method?["exchangeAppAttestAttestation"]?[member]))
        let artifact = try #require(attested.artifact)
        let challenge = try rig.challenge()
        let request = ExchangeRequest.assertion(
            of: &device,
            artifact: artifact,
            challenge: challenge,
            version: version
        )
        let asserted = try rig.send(request)
        #expect(Self.shape(asserted.answer) == Self.shape(method?["exchangeAppAttestAssertion"]?[member]))
    }

    @Test func `verifyAppCheckToken answers as the contract does, the first time and later`() throws {
        let rig = try ExchangeRig(ExchangeKit.settings())
        var device = FakeDevice(ExchangeKit.model, seed: 3)
        let artifact = try rig.register(device)
        let token = try #require(rig.refresh(&device, artifact, limitedUse: true).tokenText)
        let method = FirebaseContract.node("methods", "verifyAppCheckToken")
        for name: StaticString in ["firstResponse", "laterResponse"] {
            let answers = try rig.send(.verification(of: token))
            #expect(Self.shape(answers.result?["response"]) == Self.shape(method?[name]))
            #expect(answers.result?["response"]?["alreadyConsumed"]?.bool == method?[name]?["alreadyConsumed"]?.bool)
        }
        let invalid = try rig.send(.verification(of: token + "A"))
        #expect(invalid.code == method?["invalidToken"]?.integer)
    }

    @Test(arguments: ["exchangeAppAttestAttestation", "exchangeAppAttestAssertion"])
    func `the SDK's body is parsed: it is refused for its content, not for its form`(verb: String) throws {
        let methods = try #require(FirebaseContract.node("methods"))
        let method =
            verb.hasSuffix("Attestation")
            ? methods["exchangeAppAttestAttestation"] : methods["exchangeAppAttestAssertion"]
        let body = try #require(FirebaseContract.text(method, "sdkRequestBody"))
        let rig = try ExchangeRig(ExchangeKit.settings())
        let key = FirebaseContract.text(FirebaseContract.node("hashing", "keyId"), "text")
        let value = ExchangeRequest.value("/v1/\(ExchangeKit.resource):\(verb)", body: Array(body.utf8))
        let answers = try rig.send(ExchangeRequest(value, key: key.map { Array($0.utf8) }))
        #expect(answers.reason == (verb.hasSuffix("Attestation") ? "challenge-invalid" : "artifact-invalid"))
        let seen = FirebaseContract.node("errors", "seenInTheWild")?.elements.first?["body"]?["error"]
        let status = try #require(answers.result?["status"])
        #expect(status["code"]?.integer == seen?["code"]?.integer)
        #expect(status["message"]?.string == FirebaseContract.text(seen, "message"))
        #expect(status["status"]?.string == FirebaseContract.text(seen, "status"))
    }

    @Test func `another provider's verb gets the error message that was observed`() throws {
        let seen = FirebaseContract.node("errors", "seenInTheWild")?.elements[1]["body"]?["error"]
        let rig = try ExchangeRig(ExchangeKit.settings())
        let path = "v1/\(ExchangeKit.resource):exchangeDebugToken"
        let status = try rig.send(ExchangeRequest(ExchangeRequest.value(path, body: nil))).result?["status"]
        #expect(status?["code"]?.integer == seen?["code"]?.integer)
        #expect(status?["message"]?.string == FirebaseContract.text(seen, "message"))
        #expect(status?["status"]?.string == FirebaseContract.text(seen, "status"))
    }

    @Test func `events have the buckets of Google's own vectors`() throws {
        let vectors = FirebaseContract.node("rollout", "vectors")?.elements ?? []
        // Ids that a header can hold.
        let fit = vectors.filter { $0["id"]?.string != nil && $0["seed"]?.string != nil }
        #expect(fit.count >= 6)
        for (index, vector) in fit.enumerated() {
            let seed = vector["seed"]?.string ?? ""
            let rig = try ExchangeRig(
                ExchangeKit.settings { $0.rollout = Rollout(mode: .shadow, parts: 50_000_000, seed: seed) }
            )
            let device = FakeDevice(ExchangeKit.model, seed: UInt64(index))
            let header = RecordHeader("installation-id", vector["id"]?.string ?? "")
            let request = ExchangeRequest.attestation(of: device, challenge: try rig.challenge())
            let answers = try rig.send(request.with(headers: [header]))
            #expect(answers.event?["bucket"]?.integer == vector["microPercentile"]?.integer)
        }
    }
}
