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
}
