/// Requests of each kind that the gateway serves or refuses, some of them on one connection.
package enum HostileSeeds {
    private static let app = "/v1/projects/p/apps/1:1:ios:a"
    private static let keyID = "qrvM3e7/ABEiM0RVZneImaq7zN3u/wARIjNEVWZ3iJk="
    /// Of version 1, all else zero.
    private static let artifact = "AQ" + String(repeating: "A", count: 94)

    private static func post(_ path: String, _ headers: String, _ body: String) -> String {
        "POST \(path) HTTP/1.1\r\nHost: h\r\n\(headers)Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    private static let bearer = "Authorization: Bearer \(HostileRules.secret)\r\n"
    private static let get = "GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n"
    private static let attestation =
        #"{"attestation_statement":"o2Nm","challenge":"AAEC","key_id":"\#(keyID)"}"#
    private static let assertion = #"{"artifact":"\#(artifact)","assertion":"omlz","challenge":"AAEC"}"#
    private static let plain = #"{"assertion":"omlz","keyId":"\#(keyID)","clientData":"aGVsbG8"}"#
    /// {"jti":"abc"} between two empty parts.
    private static let token = #"{"app_check_token":".eyJqdGkiOiJhYmMifQ."}"#

    private static let debug = #"{"debug_token":"\#(HostileRules.debugToken)"}"#

    private static let one: [String] = [
        get, "HEAD /healthz HTTP/1.1\r\nHost: h.example:8443\r\n\r\n", "GET /a HTTP/1.0\r\n\r\n",
        "GET /v1/jwks?a=b%20c&d HTTP/1.1\r\nhost:[::1]:1\r\nA:\r\nB:  b\t c \t\r\n\r\n",
        "HEAD /v1/verify HTTP/1.1\r\nHost: h\r\n\r\n",
        "GET /v1/verify?consume=1 HTTP/1.1\r\nHost: h\r\nX-Firebase-AppCheck: .eyJqdGkiOiJhYmMifQ.\r\n\(bearer)\r\n",
        "GET \(app):rollout HTTP/1.1\r\nHost: h\r\nX-Installation-Id: i\r\n\r\n",
        "POST \(app)%3AgenerateAppAttestChallenge?key=k&alt=json HTTP/1.1\r\nHost: h\r\n\r\n",
        post("/v1beta/projects/1/apps/1:1:ios:b:generateAppAttestChallenge", "X-Goog-Api-Key: k\r\n", "{}"),
        post("\(app):exchangeAppAttestAttestation", "Content-Type: application/json\r\n", attestation),
        post("\(app):exchangeAppAttestAssertion", "X-Request-Id: r1\r\ntraceparent: 00-1-2-01\r\n", assertion),
        post("/v1/oauthClients/c.apps.example.com:exchangeAppAttestAssertion", "", assertion),
        post("\(app):verifyAssertion", "\(bearer)Idempotency-Key: i1\r\n", plain),
        post("/v1beta/projects/p:verifyAppCheckToken", "X-Client: backend\r\n", token),
        post("\(app):verifyAssertion", "Expect: 100-continue\r\n\(bearer)", plain),
        post("/v1/projects/p/apps/1:1:ios:b:exchangeDebugToken?key=k", "", debug),
        "GET /a HTTP/1.1\r\nHost: h\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n\r\n",
        "GET /a HTTP/1.1\r\nHost: h\r\nConnection: keep-alive, close\r\n\r\n",
        "GET /a HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
        "GET /a HTTP/1.1\r\nHost:\t h \t\r\nA:\r\nUpgrade: h2c\r\nCookie: a=b; c=\"d\"; e\r\n\r\n",
        "GET /a HTTP/1.1\r\nHost: h\r\nCookie: a=\"\r\n\r\n",
    ]

    private static let several: [(String, Int)] = [
        (get + post("\(app):verifyAssertion", bearer, plain) + get, 3),
        (post("\(app):verifyAssertion", bearer, plain) + post("\(app):verifyAssertion", bearer, plain + " "), 2),
        (post("/v1/a", "Content-Type: a\r\n", "\r\n\r\n") + get, 2),
        (
            "GET http://h:80/a?b HTTP/1.1\r\nHost: i\r\n\r\nDELETE /a HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n",
            2
        ),
        ("GET /healthz HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n\(get)", 1),
    ]

    private static let refused: [String] = [
        "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n\(get)",
        "POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n\(get)",
        "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\nContent-Length: 34\r\n\r\n\(get)",
        "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length : 34\r\n\r\n\(get)",
        "GET /a HTTP/1.1\r\nHost: h\r\nA: b\r\n c\r\n\r\n\(get)", "GET /a HTTP/1.1\nHost: h\n\n\(get)",
        "GET /a HTTP/1.1\r\nHost: h\r\nA: b\rc\r\n\r\n", "\r\n\(get)", "GET  /a HTTP/1.1\r\nHost: h\r\n\r\n",
        "GET /a#b HTTP/1.1\r\nHost: h\r\n\r\n", "GET /%00%2f%zz/../. HTTP/1.1\r\nHost: h\r\n\r\n\(get)",
        "GET /a HTTP/2.0\r\nHost: h\r\n\r\n", "GET /a HTTP/1.1\r\n\r\n", "PUT /a HTTP/1.1\r\nHost: h\r\n\r\n",
        "GET /a HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc", "GET\r\n\r\n", "POST /a HTTP/1.1\r\nHost: h\r\n",
        "POST /a HTTP/1.1\r\nHost: h\r\nExpect: 200-ok\r\n\r\n", "GET /a HTTP/1.1\r\nHost: h\r\nCookie: a=\"\r\n\r\n",
        post("\(app):verifyAssertion", bearer, #"{"a":1}}"#),
        "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\n{}",
    ]

    /// What the library cannot be asked about: see ``HostileVisit/isHidden``.
    private static let hidden: [String] = [
        "GET /a HTTP/1.0\n\0\r\n\r\n", "GET /a HTTP/1.0\0\n\r\n", "GET /a HTTP/1.0\n:\r\n\r\n",
    ]

    /// Each is served whole, or up to its last request, and how many requests these are.
    package static let served: [(bytes: [UInt8], count: Int)] =
        (one.map { ($0, 1) } + several).map { (Array($0.utf8), $1) }

    package static let all: [[UInt8]] = served.map(\.bytes) + (refused + hidden).map { Array($0.utf8) }
}
