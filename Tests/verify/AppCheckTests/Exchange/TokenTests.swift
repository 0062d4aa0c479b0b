import AppAttest
import AppCheck
import Crypto
import Foundation
import JSON
import TestKit
import Testing

@Suite struct TokenTests {
    private let now = Exchange.now

    private func parts(_ token: [UInt8]) -> [String] {
        token.split(separator: UInt8(ascii: ".")).map {
            String(decoding: Base64.decode(Array($0)) ?? [], as: UTF8.self)
        }
    }

    @Test func `a key set has keys, each of them once`() throws {
        let whole = String(decoding: try TokenKeyRing([ExchangeKit.rs256()]).jsonWebKeySet, as: UTF8.self)
        let key = whole.dropFirst(#"{"keys":["#.count).dropLast(2)
        for (keys, isSet) in [("\(key)", true), ("", false), ("\(key),\(key)", false)] {
            let read = try? VerificationKeys(jsonWebKeySet: Array("{\"keys\":[\(keys)]}".utf8))
            #expect((read != nil) == isSet, "\(keys)")
        }
    }

    @Test(arguments: [false, true])
    func `header and claims are those of Google's tokens, in the same order`(limitedUse: Bool) throws {
        let token = TokenMinter.mint(Exchange.claims(limitedUse: limitedUse), with: try ExchangeKit.rs256())
        let parts = parts(token)
        #expect(parts[0] == #"{"kid":"Kx3_Qa","typ":"JWT","alg":"RS256"}"#)
        let claims = Contract.root["token"][limitedUse ? "limitedUseClaims" : "sessionClaims"]
        #expect(
            parts[1] == #"{"sub":"\#(ExchangeKit.appID)","aud":["projects/123456789012","projects/contract-test-1"],"#
                + #""provider":"device_check_app_attest","iss":"\#(claims["iss"].string)","#
                + #""exp":\#(claims["exp"].integer),"iat":1795000000,"jti":"\#(claims["jti"].string)"}"#
        )
        #expect(claims.says(Array(parts[1].utf8)))
        #expect(Contract.root["token"]["header"].says(Array(parts[0].utf8)))
        #expect(!String(decoding: token, as: UTF8.self).contains { "+/=".contains($0) })
    }

    @Test func `a project without an id has one audience`() throws {
        var claims = Exchange.claims()
        claims.projectID = nil
        let payload = parts(TokenMinter.mint(claims, with: try ExchangeKit.rs256()))[1]
        #expect(payload.contains(#""aud":["projects/123456789012"],"#))
    }

    @Test func `RS256 is deterministic, ES256 is not, and both verify`() throws {
        let ring = try TokenKeyRing([ExchangeKit.rs256(), ExchangeKit.es256()])
        let claims = Exchange.claims(limitedUse: true)
        let tokens = ring.keys.map { key in (0..<2).map { _ in TokenMinter.mint(claims, with: key) } }
        #expect(tokens[0][0] == tokens[0][1])
        #expect(tokens[1][0] != tokens[1][1])
        for token in tokens.joined() { #expect(ring.claims(of: token) == claims) }
        #expect(parts(tokens[1][0])[0] == #"{"kid":"Ec4_Rb","typ":"JWT","alg":"ES256"}"#)
    }

    @Test func `a template makes the same tokens, whatever the length of the names before the times`() throws {
        let key = try ExchangeKit.rs256()
        for count in 1...6 {
            let subject = String(repeating: "a", count: count)
            let template = TokenTemplate(subject: subject, projectNumber: "1", projectID: nil, key: key)
            for claims in [Exchange.claims(limitedUse: true), Exchange.claims()] {
                let token = try #require(template.mint(claims.times, id: Array(claims.id.utf8)))
                let expected =
                    #"{"sub":"\#(subject)","aud":["projects/1"],"provider":"device_check_app_attest","#
                    + #""iss":"https://firebaseappcheck.googleapis.com/1","exp":\#(claims.expiresAt),"#
                    + #""iat":\#(claims.issuedAt),"jti":"\#(claims.id)"}"#
                #expect(parts(token)[1] == expected)
            }
        }
    }

    @Test func `tokens verify by the published key set alone, with OpenSSL's own call`() throws {
        let ring = try TokenKeyRing([
            ExchangeKit.rs256(), ExchangeKit.es256(), ExchangeKit.rs256("old", state: .published),
        ])
        let set = try #require(JSONSerialization.jsonObject(with: Data(ring.jsonWebKeySet)) as? [String: Any])
        let keys = try #require(set["keys"] as? [[String: String]])
        #expect(set.count == 1 && keys.map { $0["kid"] } == ["Kx3_Qa", "Ec4_Rb", "old"])
        for (key, json) in zip(ring.keys, keys) {
            func number(_ name: String) -> [UInt8] { json[name].flatMap { Base64.decode(Array($0.utf8)) } ?? [] }
            let isRSA = key.algorithm == .rs256
            #expect(Set(json.keys) == Set(["kty", "use", "alg", "kid"] + (isRSA ? ["n", "e"] : ["crv", "x", "y"])))
            #expect(json["use"] == "sig" && json["alg"] == key.algorithm.rawValue)
            #expect(json["kty"] == (isRSA ? "RSA" : "EC"))
            let parameters: VerificationKey.Parameters
            if isRSA {
                #expect(json["e"] == "AQAB")
                parameters = .rsa(modulus: number("n"), exponent: number("e"))
            } else {
                #expect(json["crv"] == "P-256")
                parameters = .p256(try #require(P256PublicKey(x963: [4] + number("x") + number("y"))))
            }
            let published = try #require(VerificationKey(parameters))
            let token = TokenMinter.mint(Exchange.claims(), with: key)
            let dot = try #require(token.lastIndex(of: UInt8(ascii: ".")))
            let signature = try #require(Base64.decode(Array(token[(dot + 1)...])))
            #expect(published.isValid(signature, of: Array(token[..<dot])))
        }
    }

    @Test func `any flipped bit of a token, and every truncation, is token-invalid`() throws {
        let ring = try TokenKeyRing([ExchangeKit.rs256(), ExchangeKit.es256()])
        for key in ring.keys {
            let token = TokenMinter.mint(Exchange.claims(limitedUse: true), with: key)
            for bit in 0..<(8 * token.count) { #expect(ring.claims(of: flipping(bit, of: token)) == nil) }
            for count in token.indices { #expect(ring.claims(of: Array(token[..<count])) == nil) }
            for more in [".", "A", "=", "\n", "..", ".AA"] { #expect(ring.claims(of: token + Array(more.utf8)) == nil) }
            #expect(ring.claims(of: token) != nil)
        }
    }

    @Test(arguments: ["", ".", "..", "...", "e30.e30.", "e30.e30.AA", ".e30.AA", "e30..AA", "e31.e30.AA", "W10.e30.AA"])
    func `a text without the shape of a token is token-invalid`(text: String) throws {
        #expect(try TokenKeyRing([ExchangeKit.rs256()]).claims(of: Array(text.utf8)) == nil)
    }

    @Test func `no header or payload traps, however deep, long or broken`() throws {
        let ring = try TokenKeyRing([ExchangeKit.rs256()])
        let deep = String(repeating: #"{"a":["#, count: 2000)
        let texts = [
            deep, String(repeating: "9", count: 9000), #"{"kid":"\ud800"}"#, #"{"kid":"Kx3_Qa","typ":1}"#, "nul",
        ]
        for text in texts {
            for other in texts {
                let parts = [text, other].map { Samples.payload($0) }
                #expect(ring.claims(of: Array("\(parts[0]).\(parts[1]).AAAA".utf8)) == nil)
            }
        }
    }

    @Test func `a token serves no other project, subject or key`() throws {
        let ring = try TokenKeyRing([ExchangeKit.rs256()])
        let token = TokenMinter.mint(Exchange.claims(), with: ring.keys[0])
        func verdict(_ number: String, _ id: String?, subjects: [String] = [ExchangeKit.appID]) -> TokenClaims? {
            ring.claims(of: token, number: number, id: id, subjects: subjects)
        }
        #expect(verdict(ExchangeKit.projectNumber, ExchangeKit.projectID) != nil)
        #expect(verdict(ExchangeKit.projectNumber, nil) != nil)
        #expect(verdict("1", ExchangeKit.projectID) == nil)
        #expect(verdict("1", nil) == nil)
        #expect(verdict(ExchangeKit.projectNumber, ExchangeKit.projectID, subjects: []) == nil)
        let impostor = try TokenKey(kid: "Kx3_Qa", algorithm: .rs256, key: #require(ExchangeKit.otherRSA))
        #expect(try TokenKeyRing([impostor]).claims(of: token) == nil)
        #expect(TokenKeyRing().claims(of: token) == nil)
        #expect(try TokenKeyRing([impostor, ExchangeKit.rs256("another")]).claims(of: token) == nil)
    }

    @Test(
        arguments: [
            (-10_001, false), (-10_000, true), (-1, true), (0, true), (3_599_999, true), (3_600_000, false),
            (3_600_001, false),
            (-1_795_000_000_001, false),
        ] as [(Int64, Bool)]
    )
    func `a token is valid from ten seconds before iat until just before exp`(elapsed: Int64, isAlive: Bool) throws {
        let ring = try TokenKeyRing([ExchangeKit.rs256()])
        let token = TokenMinter.mint(Exchange.claims(), with: ring.keys[0])
        let time = EvaluationTime(milliseconds: now.milliseconds + elapsed)
        #expect((ring.claims(of: token, at: time) != nil) == isAlive)
    }

    @Test func `only lives of exactly 300 seconds are limited use`() {
        for life in [0, 299, 301, 1800, 3600, -300, Int64.max] as [Int64] {
            var claims = Exchange.claims(issuedAt: 0)
            claims.expiresAt = life
            #expect(!claims.isLimitedUse)
        }
        #expect(Exchange.claims(limitedUse: true).isLimitedUse)
        var wide = Exchange.claims()
        (wide.issuedAt, wide.expiresAt) = (.min, .max)
        #expect(!wide.isLimitedUse)
    }

    @Test(
        arguments: [
            (1_795_000_000_999, false, 3_600_000, 1_795_000_000, 1_795_003_600, "3599.001s"),
            (1_795_000_000_000, true, 3_600_000, 1_795_000_000, 1_795_000_300, "300s"),
            (1_795_000_000_250, true, 604_800_000, 1_795_000_000, 1_795_000_300, "299.750s"),
            (1_795_000_000_000, false, 1_800_999, 1_795_000_000, 1_795_001_800, "1800s"),
            (-1, false, 1_800_000, -1, 1_799, "1799s"),
        ] as [(Int64, Bool, Int64, Int64, Int64, String)]
    )
    func `iat is rounded down, and the ttl is the remaining life`(
        milliseconds: Int64,
        limitedUse: Bool,
        ttl: Int64,
        issuedAt: Int64,
        expiresAt: Int64,
        text: String
    ) {
        let time = EvaluationTime(milliseconds: milliseconds)
        let settings = TokenSettings(ttlMilliseconds: ttl)
        let times = TokenTimes(at: time, limitedUse: limitedUse, settings: settings)
        #expect(times == TokenTimes(issuedAt: issuedAt, expiresAt: expiresAt))
        #expect(times.remaining(at: time).text == text)
        #expect(times.remaining(at: EvaluationTime(milliseconds: expiresAt * 1000)).text == "0s")
        #expect(times.remaining(at: EvaluationTime(milliseconds: .max)).text == "0s")
    }

    @Test(arguments: [(0, 0), (999, 0), (1_000, 1), (29_999, 29), (30_000, 30)] as [(Int64, Int64)], [true, false])
    func `a leeway moves iat and exp by whole seconds, and the life stays`(
        leeway: (milliseconds: Int64, seconds: Int64),
        limitedUse: Bool
    ) {
        let time = EvaluationTime(milliseconds: 1_795_000_000_250)
        var settings = TokenSettings(ttlMilliseconds: TokenSettings.ttlRange.lowerBound)
        let plain = TokenTimes(at: time, limitedUse: limitedUse, settings: settings)
        settings.leewayMilliseconds = leeway.milliseconds
        let times = TokenTimes(at: time, limitedUse: limitedUse, settings: settings)
        #expect(times.issuedAt == plain.issuedAt - leeway.seconds)
        #expect(times.expiresAt == plain.expiresAt - leeway.seconds)
        #expect(times.isLimitedUse == limitedUse && times.isSession == !limitedUse)
        let left = plain.remaining(at: EvaluationTime(milliseconds: time.milliseconds + leeway.seconds * 1_000))
        #expect(times.remaining(at: time).text == left.text)
    }

    @Test func `a jti is SHA-256 over its parts, each text with its length before it, and a shared one over times`()
        throws
    {
        func hash(_ texts: [String], _ rest: [UInt8]) -> [UInt8] {
            let parts: [UInt8] = texts.flatMap { [0, 0, 0, 0, 0, 0, 0, UInt8($0.utf8.count)] + Array($0.utf8) }
            return Base64.encodeURL(SHA256.hash(parts + rest).bytes)
        }
        let (app, keyID, digest) = ("projects/1/apps/a", KeyID(of: try Exchange.publicKey(1)), SHA256.hash([7]))
        let ids = TokenIDs(app: app, subject: "subject")
        let id = ids.id(requestID: "request é", valueDigest: digest, keyID: keyID)
        let texts = ["attest-worker jti v1", "subject", app, "request é"]
        #expect(id.text == hash(texts, digest.bytes + keyID.bytes))
        let times: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2]
        let shared = ids.shared(TokenTimes(issuedAt: 1, expiresAt: 2))
        #expect(shared.text == hash(["attest-worker shared jti v1", "subject", app], times))
    }

    @Test(arguments: [Int64.min, -1, 0, 999_999_999, 1_000_000_000, 1_795_003_600, 9_999_999_999, 10_000_000_000])
    func `times of any length are written unchanged`(seconds: Int64) throws {
        let template = TokenTemplate(subject: "s", projectNumber: "1", projectID: nil, key: try ExchangeKit.es256())
        let times = TokenTimes(issuedAt: seconds, expiresAt: seconds)
        let text = parts(template.mint(times, id: Array("id".utf8)) ?? [])[1]
        #expect(text.hasSuffix(#""exp":\#(seconds),"iat":\#(seconds),"jti":"id"}"#))
    }

    @Test func `the jti that is read for the record key is the minted one`() throws {
        let claims = Exchange.claims(limitedUse: true)
        let token = TokenMinter.mint(claims, with: try ExchangeKit.rs256())
        let body = #"{"path":"v1beta/projects/\#(ExchangeKit.projectID):verifyAppCheckToken","body":{"appCheckToken":""#
        let decoder = RequestDecoder(registry: try Samples.registry(), limits: RequestLimits())
        guard case .request(let request) = decoder.decode(Array(body.utf8) + token + Array(#""}}"#.utf8)) else {
            Issue.record("the request is decoded")
            return
        }
        #expect(request.unverifiedTokenID == Array(claims.id.utf8))
    }
}

@Suite struct TokenKeyTests {
    @Test func `the first active key of an algorithm signs, published ones only verify`() throws {
        let ring = try TokenKeyRing([
            ExchangeKit.rs256("published", state: .published), ExchangeKit.es256("ec"), ExchangeKit.rs256("first"),
            ExchangeKit.rs256("second"),
        ])
        #expect(ring.active(.rs256)?.kid == "first")
        #expect(ring.active(.es256)?.kid == "ec")
        #expect(ring["published"]?.state == .published)
        #expect(ring["nobody"] == nil)
        #expect(try TokenKeyRing([ExchangeKit.rs256("p", state: .published)]).active(.rs256) == nil)
        #expect(TokenKeyRing().active(.rs256) == nil)
    }

    @Test func `a key of the wrong kind, without a kid or with a kid in use is refused by name`() throws {
        let (rsa, p256) = (try #require(ExchangeKit.rsa), try #require(ExchangeKit.p256))
        #expect(throws: KeyRingFault.wrongKind(kid: "k", algorithm: "RS256")) {
            try TokenKey(kid: "k", algorithm: .rs256, key: p256)
        }
        #expect(throws: KeyRingFault.wrongKind(kid: "k", algorithm: "ES256")) {
            try TokenKey(kid: "k", algorithm: .es256, key: rsa)
        }
        #expect(throws: KeyRingFault.unnamed) { try TokenKey(kid: "", algorithm: .rs256, key: rsa) }
        let twice = [try ExchangeKit.rs256("k"), try ExchangeKit.es256("k")]
        #expect(throws: KeyRingFault.standsTwice(id: "k")) { try TokenKeyRing(twice) }
    }

    @Test func `an empty ring publishes an empty set, and no set has a private number`() throws {
        #expect(TokenKeyRing().jsonWebKeySet == Array(#"{"keys":[]}"#.utf8))
        let set = String(
            decoding: try TokenKeyRing([ExchangeKit.rs256(), ExchangeKit.es256()]).jsonWebKeySet,
            as: UTF8.self
        )
        for name in [#""d":"#, #""p":"#, #""q":"#, #""dp":"#] { #expect(!set.contains(name)) }
    }
}
