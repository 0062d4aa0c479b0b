import AppAttest
import AppCheck
import Crypto
import Foundation
import JSON
import TestKit
import Testing

/// Answers, durations, hashes and limits as the contract's golden facts have them.
@Suite struct AnswerContractTests {
    private let verbs = Contract.root["methods"]
    private var token: [UInt8] {
        Array(verbs["exchangeAppAttestAssertion"]["responseV1"]["token"].string.utf8)
    }

    private func ttl(_ text: String) throws -> ProtoDuration { try #require(ProtoDuration(text)) }

    @Test func `a challenge answer has the form that the SDK parses`() throws {
        let golden = verbs["generateAppAttestChallenge"]["response"]
        let body = ExchangeAnswer.challenge(golden["challenge"].base64, ttl: try ttl("300s"))
        #expect(golden.says(body))
        #expect(body == Array(#"{"challenge":"AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=","ttl":"300s"}"#.utf8))
    }

    @Test(arguments: [(false, "responseV1"), (true, "responseV1beta")])
    func `an attestation's answer has artifact and token, and in v1beta the mirrors`(isBeta: Bool, name: String) throws
    {
        let golden = verbs["exchangeAppAttestAttestation"][name]
        let body = ExchangeAnswer.attestation(
            artifact: golden["artifact"].base64,
            token: token,
            ttl: try ttl("3600s"),
            isBeta: isBeta
        )
        #expect(golden.says(body))
        #expect(String(decoding: body, as: UTF8.self).contains(golden["artifact"].string))
    }

    @Test(arguments: [(false, "responseV1"), (true, "responseV1beta")])
    func `an assertion's answer is the token, and in v1beta its mirror`(isBeta: Bool, name: String) throws {
        let body = ExchangeAnswer.assertion(token: token, ttl: try ttl("300s"), isBeta: isBeta)
        #expect(verbs["exchangeAppAttestAssertion"][name].says(body))
    }

    @Test func `a token's first use is answered with an empty object, later ones report it`() {
        let golden = verbs["verifyAppCheckToken"]
        #expect(ExchangeAnswer.verification(alreadyConsumed: false) == Array("{}".utf8))
        #expect(golden["firstResponse"].says(ExchangeAnswer.verification(alreadyConsumed: false)))
        #expect(golden["laterResponse"].says(ExchangeAnswer.verification(alreadyConsumed: true)))
    }

    @Test func `a key set has the members of Google's key set`() throws {
        let golden = verbs["jwks.get"]["response"]["keys"].elements[0]
        let ring = try TokenKeyRing([ExchangeKit.rs256()])
        let set = try JSONSerialization.jsonObject(with: Data(ring.jsonWebKeySet)) as? [String: [[String: String]]]
        let key = try #require(set?["keys"]?.first)
        #expect(key.keys.sorted() == golden.names)
        for name in ["kty", "use", "alg", "kid", "e"] { #expect(key[name] == golden[name].string) }
    }

    @Test func `durations are read and written as proto3 JSON has them`() throws {
        let golden = Contract.root["json"]["durations"]
        #expect(golden["accept"].names.count == 7)
        for text in golden["accept"].names {
            let duration = try #require(ProtoDuration(text), "\(text)")
            #expect(Double(duration.nanoseconds) / 1e9 == (golden["accept"][text].value as? Double))
            #expect(ProtoDuration(duration.text) == duration)
        }
        #expect(golden["reject"].strings.count == 8)
        for text in golden["reject"].strings { #expect(ProtoDuration(text) == nil, "\(text)") }
        for text in ["-1s", ".5s", "1.s", "1.5", "9223372037s", "9223372036.9s", "١s", "1,5s", "s3600"] {
            #expect(ProtoDuration(text) == nil, "\(text)")
        }
    }

    @Test(
        arguments: [
            (0, "0s"), (1, "0.000000001s"), (1_000, "0.000001s"), (250_000_000, "0.250s"), (3_600_000_000_000, "3600s"),
            (3_599_001_000_000, "3599.001s"), (1_000_000_001, "1.000000001s"),
        ] as [(Int64, String)]
    )
    func `a duration has as many decimal places as it needs, in threes`(nanoseconds: Int64, text: String) {
        #expect(ProtoDuration(nanoseconds: nanoseconds).text == text)
        #expect(ProtoDuration(text)?.nanoseconds == nanoseconds)
        // The SDK strips every `s` and reads a double.
        #expect(Double(text.replacing("s", with: "")) == Double(nanoseconds) / 1e9)
    }

    @Test func `token lives are those of the contract`() throws {
        let limits = Contract.root["limits"]
        let range = limits["appAttestTokenTtlSeconds"].elements.map(\.integer)
        #expect(TokenSettings.ttlRange == range[0] * 1000...range[1] * 1000)
        #expect(TokenClaims.limitedUseSeconds == limits["limitedUseTtlSeconds"].integer)
        let golden = Contract.root["json"]["durations"]
        #expect(
            ProtoDuration(milliseconds: TokenSettings().ttlMilliseconds).text == golden["tokenTtl"]["default"].string
        )
        for name in ["belowMin", "aboveMax"] {
            let outside = try ttl(golden["tokenTtl"][name].string)
            #expect(!TokenSettings.ttlRange.contains(outside.nanoseconds / 1_000_000))
        }
        #expect(TokenClaims.provider == Contract.root["token"]["providerValues"]["App Attest"].string)
    }

    @Test func `the hashes over challenge and artifact match the golden ones`() {
        let golden = Contract.root["hashing"]
        let (challenge, artifact) = (golden["challenge"].hex, golden["artifact"].hex)
        #expect(SHA256.hash(challenge).bytes == golden["attestation"]["clientDataHash"].hex)
        let joined = SHA256.hash(artifact.span, challenge.span).bytes
        #expect(joined == golden["assertion"]["clientDataHash"].hex)
        let wrong = golden["assertion"]["mustNotMatch"]
        #expect(wrong.names.count == 4)
        for name in wrong.names { #expect(wrong[name].hex != joined) }
        #expect(Base64.decode(Array(golden["keyId"]["text"].string.utf8)) == golden["keyIdHex"].hex)
        #expect(SHA256.hash(Array(golden["rpIdHash"]["input"].string.utf8)).bytes == golden["rpIdHash"]["sha256"].hex)
    }
}
