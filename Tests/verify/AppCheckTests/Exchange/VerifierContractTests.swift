import AppAttest
import AppCheck
import Crypto
import Foundation
import TestKit
import Testing

/// The cases that were tried on firebase_admin, one by one.
@Suite struct VerifierContractTests {
    /// What a case changes in a good session token.
    struct Change: Sendable {
        var header: [String: any Sendable] = [:]
        var claims: [String: any Sendable] = [:]
        var without: [String] = []
        /// Works on the finished token's text.
        var text: @Sendable (String) -> String = { $0 }
        var key: SigningKey? = ExchangeKit.rsa
        var project: String = ExchangeKit.projectID
        var escapesSlashes = false
    }

    private static let iat = 1_795_000_000
    static let changes: [String: Change] = [
        "good token, checked by project id": Change(),
        "good token, checked by project number": Change(),
        "good token whose JSON escapes slashes": Change(escapesSlashes: true),
        "limited-use token, 300 s": Change(claims: ["exp": iat + 300]),
        "seven-day token": Change(claims: ["exp": iat + 604_800]),
        "second key of the set": Change(header: ["kid": "second"], key: ExchangeKit.otherRSA),
        "no provider, no jti": Change(without: ["provider", "jti"]),
        "one signature bit flipped": Change(text: { String($0.dropLast(4)) + ($0.hasSuffix("AAAA") ? "AAAE" : "AAAA") }
        ),
        "signed by another key under a known kid": Change(key: ExchangeKit.otherRSA),
        "payload swapped under an old signature": Change(text: { swappingPayload($0) }),
        "unknown kid": Change(header: ["kid": "nobody"]),
        "no kid": Change(without: ["kid"]),
        "typ missing": Change(without: ["typ"]),
        "typ in lower case": Change(header: ["typ": "jwt"]),
        "alg none": Change(header: ["alg": "none"]),
        "alg HS256 keyed with the public key": Change(header: ["alg": "HS256"]),
        "alg ES256 with a published EC key": Change(header: ["alg": "ES256", "kid": "ec"], key: ExchangeKit.p256),
        "header says RS384, signature is RS256": Change(header: ["alg": "RS384"]),
        "aud of another project": Change(claims: ["aud": ["projects/1", "projects/other"]]),
        "aud a string, not a list": Change(claims: ["aud": "projects/123456789012"]),
        "aud without the projects/ prefix": Change(claims: ["aud": ["123456789012", "contract-test-1"]]),
        "aud missing": Change(without: ["aud"]),
        "aud with the number only, checked by id": Change(claims: ["aud": ["projects/123456789012"]]),
        "aud with the number only, checked by number": Change(claims: ["aud": ["projects/123456789012"]]),
        "iss of another service": Change(claims: ["iss": "https://securetoken.google.com/123456789012"]),
        "iss missing": Change(without: ["iss"]),
        "iss of another project number": Change(claims: ["iss": "https://firebaseappcheck.googleapis.com/1"]),
        "expired a second ago": Change(claims: ["exp": iat - 1, "iat": iat - 3601]),
        "exp missing": Change(without: ["exp"]),
        "iat a minute ahead": Change(claims: ["iat": iat + 60]),
        "iat missing": Change(without: ["iat"]),
        "iat and exp with fractions": Change(claims: ["iat": Double(iat) + 0.5, "exp": Double(iat) + 3600.5]),
        "sub missing": Change(without: ["sub"]),
        "sub a number": Change(claims: ["sub": 1]),
        "sub empty": Change(claims: ["sub": ""]),
        "sub an OAuth client id": Change(claims: ["sub": ExchangeKit.client]),
        "jti a number": Change(claims: ["jti": 1]),
        "app_id claim that disagrees with sub": Change(claims: ["app_id": "1:1:ios:1"]),
        "two segments": Change(text: { $0.split(separator: ".").prefix(2).joined(separator: ".") }),
        "empty string": Change(text: { _ in "" }),
    ]

    /// Where the verifier differs from the contract, and why.
    static let differences: [String: (accepted: Bool, why: Comment)] = [
        "no provider, no jti": (false, "without a jti nothing can be remembered of a consumption"),
        "alg ES256 with a published EC key": (true, "apps may choose ES256"),
        "aud with the number only, checked by id": (true, "both forms name one project in the registry"),
    ]

    private static func swappingPayload(_ token: String) -> String {
        let parts = token.split(separator: ".")
        let other = #"{"sub":"\#(ExchangeKit.client)"}"#
        return "\(parts[0]).\(encode(Data(other.utf8))).\(parts[2])"
    }

    private static func encode(_ data: Data) -> String {
        let text = data.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
        return text.replacing("=", with: "")
    }

    private static func json(_ object: [String: Any], escapesSlashes: Bool) throws -> Data {
        try JSONSerialization.data(withJSONObject: object, options: escapesSlashes ? [] : [.withoutEscapingSlashes])
    }

    private static func token(_ change: Change) throws -> [UInt8] {
        var header: [String: Any] = ["kid": "Kx3_Qa", "typ": "JWT", "alg": "RS256"]
        var claims = Contract.root["token"]["sessionClaims"].value as? [String: Any] ?? [:]
        header.merge(change.header) { $1 }
        claims.merge(change.claims) { $1 }
        for name in change.without { (header[name], claims[name]) = (nil, nil) }
        let input =
            encode(try json(header, escapesSlashes: false)) + "."
            + encode(try json(claims, escapesSlashes: change.escapesSlashes))
        let signature = try #require(change.key).sign(Array(input.utf8))
        return Array(change.text("\(input).\(encode(Data(signature)))").utf8)
    }

    private static func verify(_ token: [UInt8]) throws -> TokenClaims? {
        let second = try TokenKey(kid: "second", algorithm: .rs256, key: #require(ExchangeKit.otherRSA))
        return try TokenKeyRing([ExchangeKit.rs256(), second, ExchangeKit.es256("ec")]).claims(of: token)
    }

    static let cases = Contract.root["firebaseAdminPython"]["observed"]["cases"].elements

    @Test func `every case of the contract is tried`() {
        #expect(Self.cases.count == 40)
        #expect(Set(Self.cases.map { $0["case"].string }) == Set(Self.changes.keys))
    }

    @Test(arguments: cases.indices)
    func `a token is judged as by firebase_admin, and refused where that accepts nonsense`(index: Int) throws {
        let (name, contract) = (Self.cases[index]["case"].string, Self.cases[index]["contract"].bool)
        let change = try #require(Self.changes[name], "\(name)")
        let isAccepted = try Self.verify(Self.token(change)) != nil
        // Cases that firebase_admin merely lets through are refused, except a claim that is never read.
        let expected = contract ?? (name == "app_id claim that disagrees with sub")
        #expect(isAccepted == Self.differences[name]?.accepted ?? expected, "\(name)")
    }

    @Test(arguments: [
        ("crit", Change(header: ["crit": ["exp"]])), ("nbf ahead", Change(claims: ["nbf": iat + 11])),
        ("iat ahead", Change(claims: ["iat": iat + 11])),
        ("nbf no integer", Change(claims: ["nbf": "now"])), ("jti empty", Change(claims: ["jti": ""])),
        ("jti of 251 bytes", Change(claims: ["jti": String(repeating: "j", count: 251)])),
        ("jti missing", Change(without: ["jti"])), ("another provider", Change(claims: ["provider": "debug"])),
        ("provider no string", Change(claims: ["provider": 1])),
        ("aud with a number in it", Change(claims: ["aud": ["projects/123456789012", 1] as [any Sendable]])),
        ("aud empty", Change(claims: ["aud": [String]()])), ("exp a string", Change(claims: ["exp": "1795003600"])),
        ("life of nothing", Change(claims: ["exp": iat])), ("exp a boolean", Change(claims: ["exp": true])),
        ("kid a number", Change(header: ["kid": 1])),
        ("iss with a slash more", Change(claims: ["iss": "https://firebaseappcheck.googleapis.com/123456789012/"])),
        ("padded", Change(text: { $0 + "==" })), ("four segments", Change(text: { $0 + ".AAAA" })),
        ("ES256 signature under an RSA key", Change(header: ["alg": "ES256"], key: ExchangeKit.p256)),
        ("too long", Change(claims: ["x": String(repeating: "x", count: 16_384)])),
    ])
    func `every additional single fault is refused`(name: String, change: Change) throws {
        #expect(try Self.verify(Self.token(change)) == nil, "\(name)")
    }

    @Test func `a past nbf, an unknown claim and a missing provider are accepted`() throws {
        let near = [Change(claims: ["nbf": Self.iat + 10]), Change(claims: ["iat": Self.iat + 10])]
        for change in near + [
            Change(claims: ["nbf": Self.iat]), Change(claims: ["x": [1]]), Change(without: ["provider"]),
        ] {
            #expect(try Self.verify(Self.token(change)) != nil)
        }
    }

    @Test func `duplicate members are refused`() throws {
        let rsa = try #require(ExchangeKit.rsa)
        func sign(_ header: String, _ payload: String) -> [UInt8] {
            let input = Self.encode(Data(header.utf8)) + "." + Self.encode(Data(payload.utf8))
            return Array((input + "." + Self.encode(Data(rsa.sign(Array(input.utf8))))).utf8)
        }
        let claims = String(
            decoding: try Self.json(
                Contract.root["token"]["sessionClaims"].value as? [String: Any] ?? [:],
                escapesSlashes: false
            ),
            as: UTF8.self
        )
        let header = #"{"kid":"Kx3_Qa","typ":"JWT","alg":"RS256"}"#
        #expect(try Self.verify(sign(header, claims)) != nil)
        #expect(try Self.verify(sign(header.dropLast() + #","alg":"RS256"}"#, claims)) == nil)
        #expect(try Self.verify(sign(header, claims.dropLast() + #","sub":"\#(ExchangeKit.appID)"}"#)) == nil)
        #expect(try Self.verify(sign("[\(header)]", claims)) == nil)
        #expect(try Self.verify(sign(header, "1")) == nil)
    }
}
