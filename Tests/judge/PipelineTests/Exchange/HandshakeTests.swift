import AppAttest
import AppCheck
import DeviceLab
import JSON
import Pipeline
import SimulationKit
import Streams
import TestKit
import Testing

/// Google's stock client against the real loop: its state machine chooses the calls, and knows only the topics.
@Suite struct HandshakeTests {
    @Test(arguments: [
        "projects/contract-test-1/apps/\(ExchangeKit.appID)", "projects/123456789012/apps/\(ExchangeKit.appID)",
        "oauthClients/\(ExchangeKit.client)",
    ])
    func `a stock client gets session and limited-use tokens, and consumes one`(resource: String) throws {
        let rig = try ExchangeRig(ExchangeKit.settings())
        var client = StockClient(ExchangeKit.model, resource: resource, seed: 5)
        let session = try rig.serve(&client)
        #expect(session.calls.map(\.kind) == [.challengeForAttestation, .attestation])
        let first = try #require(session.token.flatMap { ExchangeToken($0.text) })
        #expect(first.isSigned(by: rig.settings.exchange.keys.tokens))
        #expect(client.isRegistered)

        rig.time += 3_400_000
        let refreshed = try rig.serve(&client)
        #expect(refreshed.calls.map(\.kind) == [.challengeForAssertion, .assertion])
        let limited = try rig.serve(&client, limitedUse: true)
        let text = try #require(limited.token).text
        let token = try #require(ExchangeToken(text))
        #expect(token.expiresAt.flatMap { end in token.issuedAt.map { end - $0 } } == 300)

        #expect(try rig.send(.verification(of: text)).text(.results)?.contains(#""response":{}"#) == true)
        let again = try rig.send(.verification(of: text))
        #expect(again.result?["response"]?["alreadyConsumed"]?.bool == true)
        #expect(client.keysMade == 1)
    }

    @Test func `all names of an app are one app: attested under one, refreshed under another`() throws {
        var (rig, device) = try ExchangeRig.fresh()
        let artifact = try rig.register(device, resource: "projects/123456789012/apps/\(ExchangeKit.appID)")
        #expect(rig.key(device)?.app == ExchangeKit.name)
        for (resource, subject) in [
            (ExchangeKit.resource, ExchangeKit.appID), ("oauthClients/\(ExchangeKit.client)", ExchangeKit.client),
        ] {
            let answers = try rig.refresh(&device, artifact, resource: resource)
            #expect(answers.verdict == "accepted")
            #expect(answers.token?.subject == subject)
            #expect(answers.token?.payload["iss"]?.string == TokenClaims.issuerPrefix + ExchangeKit.projectNumber)
            #expect(
                answers.token?.payload["aud"]?.elements.map(\.string)
                    == ["projects/123456789012", "projects/contract-test-1"]
            )
            #expect(answers.event?["app"]?.string == ExchangeKit.name)
        }
        let path = try rig.send(.challenge("projects/123456789012/apps/\(ExchangeKit.appID)", version: "/v1"))
        #expect(path.result?["path"]?.string == "/v1/\(ExchangeKit.name):generateAppAttestChallenge")
    }

    @Test(arguments: ["v1", "v1beta"])
    func `answers have the members that Google's have, v1beta's mirrors repeat the token`(version: String) throws {
        var (rig, device) = try ExchangeRig.fresh()
        let made = try rig.send(.challenge(version: version))
        let challenge = try #require(made.challenge)
        #expect(made.text(.tokens) == Self.text(["challenge": challenge], #""ttl":"300s""#))
        let attested = try rig.send(.attestation(of: device, challenge: challenge, version: version))
        let (artifact, token) = (try #require(attested.artifact), try #require(attested.tokenText))
        let isBeta = version == "v1beta"
        let mirror = isBeta ? #""attestationToken":"\#(token)","# : ""
        let life = #""ttl":"3599.750s""#
        var expected = #""appCheckToken":{\#(mirror)"token":"\#(token)",\#(life)}"#
        if isBeta { expected += #","attestationToken":{\#(mirror)\#(life)}"# }
        #expect(attested.text(.tokens) == Self.text(["artifact": artifact], expected))

        let asserted = try rig.send(rig.assertion(of: &device, artifact, limitedUse: true, version: version))
        let fresh = try #require(asserted.tokenText)
        let second = isBeta ? #""attestationToken":"\#(fresh)","# : ""
        #expect(asserted.text(.tokens) == #"{\#(second)"token":"\#(fresh)","ttl":"299.750s"}"#)
        #expect(asserted.outputs.first { $0.stream == .tokens }?.headers.first?.name == Array("request-id".utf8))
    }

    private static func text(_ bytes: [String: [UInt8]], _ rest: String) -> String {
        let first = bytes.map { "\"\($0)\":\"\(Secrets.standard($1))\"" }.joined()
        return "{\(first),\(rest)}"
    }

    @Test func `a refused attestation is 403, and the client starts over with a second key, once`() throws {
        let rig = try ExchangeRig(ExchangeKit.settings())
        var client = StockClient(ExchangeKit.model, resource: ExchangeKit.resource, seed: 5)
        client.attestationFault = .nonceFlipped
        let served = try rig.serve(&client)
        #expect(served.outcomes == [.refused(status: 403)])
        #expect(served.answers.map(\.summary) == ["accepted", "nonce-mismatch", "accepted", "nonce-mismatch"])
        #expect(client.keysMade == 2)
        let status = served.answers[1].result?["status"]
        #expect(status?["message"]?.string == "App attestation failed.")
        #expect(status?["status"]?.string == "PERMISSION_DENIED")
        #expect(served.answers[1].answer == nil)
    }
}
