import Gateway
import HTTP
import Settings
import TestKit
import Testing

@Suite struct RequestIDTests {
    private func id(
        _ headers: [(String, String)],
        from peer: PeerAddress,
        _ request: ExchangeRequest = .attestation()
    ) throws -> String {
        let rig = try GatewayRig()
        try rig.send(request, headers, from: peer)
        return String(decoding: GatewayRig.id(of: try #require(rig.requests.first)), as: UTF8.self)
    }

    /// The names that a peer gives, and whether they are taken.
    static let names: [([String], PeerAddress, Bool)] =
        [
            (["abc-1"], GatewayRig.proxy, true), (["abc-1"], GatewayRig.stranger, false),
            (["abc-1", "abc-1"], GatewayRig.proxy, false),
        ]
        + ["", " ", "a b", "ä", String(repeating: "x", count: 129), "a\u{7F}"].map { ([$0], GatewayRig.proxy, false) }

    @Test(arguments: names)
    func `one id of a trusted proxy names the request, where it is visible ASCII of 1 to 128 characters`(
        names: [String],
        peer: PeerAddress,
        isTaken: Bool
    ) throws {
        let made = try id(names.map { ("x-request-id", $0) }, from: peer)
        #expect(isTaken ? made == names[0] : made.utf8.count == 32 && !names.contains(made))
    }

    @Test func `equal bodies get different ids`() throws {
        let rig = try GatewayRig()
        for _ in 0..<3 { try rig.send(.attestation()) }
        #expect(Set(rig.requests.map(GatewayRig.id)).count == 3)
        #expect(Set(rig.requests.map(\.value)).count == 1)
    }

    @Test func `a verifier's idempotency key names the request, for this verifier alone`() throws {
        let token = try Tokens.limitedUse()
        let request = ExchangeRequest.verification(of: token)
        let one = try id(GatewayRig.bearer + [("idempotency-key", "k1")], from: GatewayRig.stranger, request)
        let again = try id(GatewayRig.bearer + [("idempotency-key", "k1")], from: GatewayRig.stranger, request)
        let other = try id(GatewayRig.bearer + [("idempotency-key", "k2")], from: GatewayRig.stranger, request)
        #expect(one == again)
        #expect(one != other)
        #expect(one.hasPrefix("verifier-"))
        // A device's call gets no verifier's ID, even with a verifier's secret beside the key.
        for secret in [[], GatewayRig.bearer] {
            #expect(try !id(secret + [("idempotency-key", "k1")], from: GatewayRig.stranger).hasPrefix("verifier-"))
        }
    }

    @Test(arguments: [["a b"], [""], [String(repeating: "x", count: 129)], ["a", "b"], ["a", "a"]])
    func `a bad idempotency key, or a second one, is refused before anything is produced`(keys: [String]) throws {
        let rig = try GatewayRig()
        let request = ExchangeRequest.verification(of: try Tokens.limitedUse())
        let responder = try rig.send(request, GatewayRig.bearer + keys.map { ("idempotency-key", $0) })
        #expect(responder.reply?.status == 400)
        #expect(rig.requests.isEmpty)
    }

    /// A proxy that names its clients passes on what they write.
    @Test(arguments: [false, true])
    func `an idempotency key beside a name that a proxy gives names nothing`(hasID: Bool) throws {
        let rig = try GatewayRig(settings: { settings in
            settings.verifierHeader = "X-Client-Name"
            settings.verifierNames = ["billing"]
        })
        let named = [("x-client-name", "billing"), ("idempotency-key", "k1")]
        let request = ExchangeRequest.verification(of: try Tokens.limitedUse())
        for index in 0..<2 {
            let own = hasID ? [("x-request-id", "proxy-\(index)")] : []
            try rig.send(request, named + own, from: GatewayRig.proxy)
        }
        let ids = rig.requests.map { String(decoding: GatewayRig.id(of: $0), as: UTF8.self) }
        #expect(Set(ids).count == 2)
        #expect(ids.allSatisfy { hasID ? $0.hasPrefix("proxy-") : $0.utf8.count == 32 })
    }

    @Test func `a proxy's second try with one id waits for the same answer`() throws {
        let rig = try GatewayRig()
        let calls = try (0..<2).map { _ in
            try rig.send(.attestation(), [("x-request-id", "same")], from: GatewayRig.proxy)
        }
        let sent = rig.requests
        #expect(sent.map(GatewayRig.id) == [Array("same".utf8), Array("same".utf8)])
        rig.gateway.note(tokens: [rig.token(of: sent[0])])
        rig.gateway.note(results: [rig.result(of: sent[0])])
        for call in calls { #expect(call.body == #"{"token":"t"}"#) }
    }

    @Test func `an id that names another waiting request is replaced`() throws {
        let rig = try GatewayRig()
        let headers = [("x-request-id", "same")]
        let first = try rig.send(.attestation(1), headers, from: GatewayRig.proxy)
        let second = try rig.send(.attestation(2), headers, from: GatewayRig.proxy)
        let sent = rig.requests
        #expect(GatewayRig.id(of: sent[0]) == Array("same".utf8))
        #expect(GatewayRig.id(of: sent[1]) != Array("same".utf8))
        rig.gateway.note(tokens: [rig.token(of: sent[1], "two"), rig.token(of: sent[0], "one")])
        rig.gateway.note(results: [rig.result(of: sent[0]), rig.result(of: sent[1])])
        #expect((first.body, second.body) == ("one", "two"))
    }

    @Test func `trace headers are a trusted proxy's to give`() throws {
        let trace = [("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")]
        for (peer, isTaken) in [(GatewayRig.proxy, true), (GatewayRig.stranger, false)] {
            let rig = try GatewayRig()
            try rig.send(.attestation(), trace, from: peer)
            let header = GatewayRig.header("traceparent", of: try #require(rig.requests.first))
            #expect((header != nil) == isTaken)
        }
    }
}
