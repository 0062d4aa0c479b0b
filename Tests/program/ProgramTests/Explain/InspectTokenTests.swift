internal import AppAttest
internal import AppCheck
internal import Foundation
internal import JSON
internal import Settings
internal import TestKit
internal import Testing

@Suite("inspect of a token")
struct InspectTokenTests {
    private static let time: Int64 = 1_795_176_000
    private let folder: SimulationFolder
    private let key: TokenKey
    private var config: String { folder.config }

    init() throws {
        folder = try SimulationFolder.configured()
        let configuration = try Configuration.load(directory: folder.config)
        key = try #require(try ExchangeKeys.load(configuration).rings.tokens.active(.rs256))
    }

    private func token(
        _ subject: String = "1:123456789012:ios:0123456789abcdef",
        project: String = "123456789012",
        life: Int64 = 300,
        key other: TokenKey? = nil
    ) -> String {
        let claims = TokenClaims(
            subject: subject,
            projectNumber: project,
            projectID: project == "123456789012" ? "lab-project" : nil,
            issuedAt: Self.time,
            expiresAt: Self.time + life,
            id: "a-jti"
        )
        return String(decoding: TokenMinter.mint(claims, with: other ?? key), as: UTF8.self)
    }

    private func inspect(_ token: String, _ more: String..., after seconds: Int64 = 10) throws -> Transcript {
        try Transcript.done(["inspect", "--at", "\((Self.time + seconds) * 1000)"] + more + [token])
    }

    @Test(arguments: [true, false])
    func `a good token passes every check, by the published set or by the keys that sign`(isPublished: Bool) throws {
        if !isPublished { try FileManager.default.removeItem(atPath: config + "/jwks.json") }
        let token = token()
        let text = try inspect(token, "--config", config).output
        #expect(text.hasSuffix("no check that could be judged failed\n") && !text.contains("not "), "\(text)")
        #expect(text.contains("life") && text.contains("300 s: limited use"))
        #expect(text.contains("aud presented: projects/123456789012, projects/lab-project"))
        #expect(text.contains("(2026-11-20T12:05:00Z)") && text.contains("claims.jti"))
        #expect(text.contains(isPublished ? "jwks.json" : "signingKeys of worker.json"))
        // Neither the signature nor the text that it signs.
        for part in token.split(separator: ".") { #expect(!text.contains(part.prefix(24))) }
    }

    @Test(arguments: [
        ("kid", "kid presented: other"), ("alg", "alg expected:  RS256"), ("iss", "iss expected:  https://firebaseapp"),
        ("exp", "exp presented: 1795176300"), ("sub", "sub presented: 1:1:ios:a"), ("signature", "valid under "),
    ])
    func `a refused token shows the check that failed, with presented and expected`(check: String, row: String) throws {
        var (text, seconds): (String, Int64) = (token(), 10)
        switch check {
        case "kid": text = token(key: try ExchangeKit.rs256("other"))
        case "alg":
            let header = Base64.encodeURL(Array(#"{"kid":"\#(key.kid)","typ":"JWT","alg":"HS256"}"#.utf8))
            text = String(decoding: header, as: UTF8.self) + text.drop { $0 != "." }
        case "iss": text = token(project: "210987654321")
        case "exp": seconds = 300
        case "sub": text = token("1:1:ios:a")
        default: text = token(key: try ExchangeKit.rs256(key.kid))
        }
        let report = try inspect(text, "--config", config, after: seconds).output
        #expect(report.contains(row) && report.hasSuffix("refused: token-invalid\n"), "\(report)")
        let json = try inspect(text, "--config", config, "--json", after: seconds).json
        #expect(json.failedChecks.map { $0["name"]?.string } == [check] && json["kind"]?.string == "token")
        let behind = (json["checks"]?.elements ?? []).drop { $0["name"]?.string != check }.dropFirst()
        #expect(behind.allSatisfy { $0["result"]?.string == "not-reached" })
    }

    @Test func `without a configuration its members are shown, and no check but its form is judged`() throws {
        let text = try inspect(token(life: 3600)).output
        #expect(text.contains("claims.iss") && text.contains("3600 s: a session token"))
        #expect(text.contains("not checked: needs --config") && !text.contains("FAILED"))
    }

    @Test(arguments: ["e30.e30.AAAA", "a.b.c", "eyJ9.eyJ9.eyJ9", "e30.W10.AAAA", "e30..AAAA"])
    func `what is not a token, or half of one, is told`(text: String) throws {
        let (code, transcript) = Transcript.run(["inspect", "--config", config, text])
        let isToken = !text.contains("..") && text != "a.b.c"
        #expect(code == (isToken ? 0 : 2), "\(transcript.error)")
        #expect(transcript.output.contains("FAILED: token-invalid") == isToken)
    }

    @Test func `a token's texts move no cursor, and none is shown without end`() throws {
        func part(_ json: String) -> String { String(decoding: Base64.encodeURL(Array(json.utf8)), as: UTF8.self) }
        let long = String(repeating: "é", count: 2_000)
        let claims = #"{"\u001b[2J":"\u202e","iss":"\#(long)","exp":9223372036854775807,"iat":-9223372036854775808}"#
        let hostile = part(#"{"kid":"\u0085"}"#) + "." + part(claims) + ".AAAA"
        let text = try inspect(hostile, "--config", config).output
        #expect(text.unicodeScalars.allSatisfy { $0.isVisible || $0 == "\n" } && text.utf8.count < 6_000)
        let claimed = try #require(ClaimedToken(Array(hostile.utf8)))
        #expect(claimed.issuer?.utf8.count == 128 && claimed.audiences.isEmpty && claimed.kid == "\u{85}")
        let other = part(#"{"kid":7}"#) + "." + part(#"{"iss":"x\#(long)","aud":["a",1,"b","c","d"]}"#) + ".AAAA"
        let odd = try #require(ClaimedToken(Array(other.utf8)))
        #expect(odd.issuer?.utf8.count == 127 && odd.audiences == ["a", "b", "c"])
        #expect(odd.kid == nil && odd.expiresAt == nil)
    }
}
