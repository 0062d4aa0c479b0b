import AppAttest
import AppCheck
import Gateway
import HTTP
import Settings
import TestKit
import Testing

/// Calls by address and API key within a minute.
@Suite struct RateTests {
    private static let path = "/v1/\(ExchangeKit.resource):generateAppAttestChallenge"
    private static let oauth = "/v1/oauthClients/\(ExchangeKit.client):generateAppAttestChallenge"

    private static func peer(_ bytes: UInt8...) -> PeerAddress { PeerAddress(bytes: bytes) }
    /// Of 2001:db8::/32.
    private static func peer6(_ network: UInt8, _ host: UInt8) -> PeerAddress {
        PeerAddress(bytes: [0x20, 0x01, 0x0D, 0xB8, 0, 0, 0, network] + [UInt8](repeating: host, count: 8))
    }

    private static func rig(perAddress: Int = 3, perKey: Int = 0) throws -> GatewayRig {
        try GatewayRig(
            app: { $0.apiKeys = perKey > 0 ? ["k1", "k2"] : nil },
            settings: { ($0.callsPerAddress, $0.callsPerAPIKey) = (perAddress, perKey) }
        )
    }

    private static func status(
        _ rig: GatewayRig,
        _ peer: PeerAddress = GatewayRig.stranger,
        _ headers: [(String, String)] = []
    ) -> Int? { rig.call("POST", path, headers, from: peer).reply?.status }

    @Test func `without a setting no one is limited`() throws {
        let rig = try GatewayRig()
        for _ in 0..<1_000 { #expect(Self.status(rig) == 200) }
    }

    @Test func `an address that calls too often gets 429 until the minute is over, and no other does`() throws {
        let rig = try Self.rig()
        rig.pass(milliseconds: 60_000 - ExchangeKit.start % 60_000 + 20_500)
        for _ in 0..<3 { #expect(Self.status(rig) == 200) }
        let late = rig.call("POST", Self.path).reply
        #expect(late?.status == 429 && late?.value(of: "Retry-After") == "40")
        #expect(rig.gateway.counts.rejections == [.addressRate: 1])
        #expect(Self.status(rig, Self.peer(192, 0, 2, 2)) == 200)
        rig.pass(milliseconds: 39_000)
        #expect(rig.call("POST", Self.path).reply?.value(of: "Retry-After") == "1")
        rig.pass(milliseconds: 1_000)
        #expect(Self.status(rig) == 200)
    }

    @Test func `forged calls count, and leave no record once there are too many`() throws {
        let rig = try Self.rig()
        let targets = [
            "/v1/\(ExchangeKit.resource):exchangeAppAttestAttestation", "/v1/projects/x/apps/y:exchangeDebugToken",
        ]
        for index in 0..<3 { #expect(rig.call("POST", targets[index % 2], body: [0x7B]).reply?.status == 400) }
        #expect(rig.call("POST", targets[0], body: [0x7B]).reply?.status == 429)
        #expect(
            rig.call("GET", "/v1/\(ExchangeKit.resource):rollout", [("x-installation-id", "i")]).reply?.status == 429
        )
    }

    @Test func `the addresses of one IPv6 network of 64 bits are one`() throws {
        let rig = try Self.rig()
        for host in 0..<3 { #expect(Self.status(rig, Self.peer6(1, UInt8(host))) == 200) }
        #expect(Self.status(rig, Self.peer6(1, 9)) == 429)
        #expect(Self.status(rig, Self.peer6(2, 0)) == 200)
    }

    @Test(
        arguments: [
            (["198.51.100.1"], ["198.51.100.1"], true), (["198.51.100.1"], ["198.51.100.2"], false),
            // What a client wrote itself stands before the address that the proxy saw.
            (["1.1.1.1, 198.51.100.1"], ["2.2.2.2,198.51.100.1"], true),
            (["1.1.1.1", "198.51.100.1"], ["198.51.100.1"], true),
            (["198.51.100.1, 10.0.0.9"], ["198.51.100.1"], true), (["2001:db8::1"], ["2001:db8::2"], true),
            (["2001:db8::1"], ["2001:db8:0:1::1"], false), (["::ffff:198.51.100.1"], ["198.51.100.1"], true),
        ] as [([String], [String], Bool)]
    )
    func `behind a trusted proxy the address is the last stranger's`(one: [String], other: [String], same: Bool) throws
    {
        let rig = try Self.rig()
        func status(_ values: [String]) -> Int? {
            Self.status(rig, GatewayRig.proxy, values.map { ("x-forwarded-for", $0) })
        }
        for _ in 0..<3 { #expect(status(one) == 200) }
        #expect(status(other) == (same ? 429 : 200))
        #expect(status(one) == 429)
    }

    @Test func `a stranger's word about its address counts for nothing`() throws {
        let rig = try Self.rig()
        let values = (0..<4).map { Self.status(rig, GatewayRig.stranger, [("x-forwarded-for", "198.51.100.\($0)")]) }
        #expect(values == [200, 200, 200, 429])
    }

    @Test(
        arguments: [
            [], ["unknown"], ["198.51.100.1:80:1"], ["198.51.100.1, "], [""], ["10.0.0.1"], [" , ,"],
            ["198.51.100.1, unknown, 10.0.0.9"], ["::ffff:10.0.0.1"],
        ]
    )
    func `calls whose proxy names no address are the proxy's own`(values: [String]) throws {
        let rig = try Self.rig()
        let headers = values.map { ("x-forwarded-for", $0) }
        let statuses = (0..<4).map { _ in Self.status(rig, GatewayRig.proxy, headers) }
        #expect(statuses == [200, 200, 200, 429])
        // Another proxy's are not, nor are those of a client that is named.
        #expect(Self.status(rig, Self.peer(10, 0, 0, 8), headers) == 200)
        #expect(Self.status(rig, GatewayRig.proxy, [("x-forwarded-for", "198.51.100.9")]) == 200)
    }

    @Test func `an IPv4 client is one, also where NAT64 writes its address as IPv6`() throws {
        let rig = try Self.rig()
        let network = [0, 0x64, 0xFF, 0x9B, 0, 0, 0, 0, 0, 0, 0, 0] as [UInt8]
        func translated(_ host: UInt8) -> PeerAddress { PeerAddress(bytes: network + [192, 0, 2, host]) }
        for _ in 0..<3 { #expect(Self.status(rig, translated(1)) == 200) }
        #expect(Self.status(rig, translated(2)) == 200)
        #expect(Self.status(rig, translated(1)) == 429 && Self.status(rig, Self.peer(192, 0, 2, 1)) == 429)
        #expect(Self.status(rig, GatewayRig.proxy, [("x-forwarded-for", "64:ff9b::192.0.2.1")]) == 429)
        // No word for a trusted proxy.
        #expect(Self.status(rig, GatewayRig.proxy, [("x-forwarded-for", "198.51.100.7, 64:ff9b::10.0.0.9")]) == 200)
        for _ in 0..<3 { #expect(Self.status(rig, GatewayRig.proxy, [("x-forwarded-for", "198.51.100.7")]) == 200) }
    }

    @Test(arguments: [
        ("192.0.2.1:4711", "192.0.2.1"), ("[2001:db8::1]:4711", "2001:db8::9"), ("[2001:db8::1]", "2001:db8::1"),
    ])
    func `a client's port behind its address changes nothing`(text: String, same: String) throws {
        let rig = try Self.rig()
        for _ in 0..<3 { #expect(Self.status(rig, GatewayRig.proxy, [("x-forwarded-for", text)]) == 200) }
        #expect(Self.status(rig, GatewayRig.proxy, [("x-forwarded-for", same)]) == 429)
        #expect(Self.status(rig, GatewayRig.proxy, [("x-forwarded-for", "192.0.2.2:1")]) == 200)
    }

    @Test func `verifiers, proxies' questions, the key set and health have no limit`() throws {
        let rig = try Self.rig()
        let token = [("x-firebase-appcheck", try Tokens.limitedUse())]
        for _ in 0..<10 {
            #expect(try rig.send(.verification(of: Tokens.limitedUse()), GatewayRig.bearer).reply == nil)
            #expect(rig.call("GET", "/v1/verify?app=\(ExchangeKit.appID)", token).reply?.status == 200)
            for path in ["/v1/jwks", "/healthz"] { #expect(rig.call("GET", path).reply?.status == 200) }
        }
    }

    @Test func `a key of the app's that calls too often gets 429, and no other does`() throws {
        let rig = try Self.rig(perAddress: 0, perKey: 2)
        func status(_ key: String, _ host: UInt8) -> Int? {
            Self.status(rig, Self.peer(192, 0, 2, host), [("x-goog-api-key", key)])
        }
        #expect((0..<3).map { status("k1", $0) } == [200, 200, 429])
        // A wrong key is a wrong key, however often it comes.
        #expect((0..<4).allSatisfy { status("k3", $0) == 401 })
        #expect(status("k2", 1) == 200 && rig.call("POST", Self.oauth).reply?.status == 200)
        #expect(rig.gateway.counts.rejections == [.apiKeyRate: 1, .apiKey: 4])
        rig.pass(milliseconds: 60_000)
        #expect(status("k1", 1) == 200)
    }

    /// What the counts take does not grow with the addresses.
    @Test func `a flood of addresses hides no one, and harms few`() throws {
        let rig = try Self.rig(perAddress: 20)
        for index in 0..<20 { #expect(Self.status(rig) == 200, "\(index)") }
        for index in 0..<20_000 {
            let (high, middle, low) = (UInt8(index >> 16 & 255), UInt8(index >> 8 & 255), UInt8(index & 255))
            let peer = Self.peer(100, high, middle, low)
            rig.call("POST", "/v1/projects/x/apps/y:exchangeAppAttestAssertion", from: peer)
        }
        #expect(Self.status(rig) == 429)
        let others = (0..<100).map { Self.status(rig, Self.peer(203, 0, 113, $0)) }
        #expect(others.filter { $0 == 200 }.count == 100)
    }
}
