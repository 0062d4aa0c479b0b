internal import AppAttest
internal import JSON

extension AppleFault: CaseIterable {
    /// Every fault, in an order that seeds draw from.
    package static let allCases: [AppleFault] = statuses + bodies + receipts

    package static func named(_ name: String) -> AppleFault? { allCases.first { $0.name == name } }

    private static let statuses: [AppleFault] = [
        .instead("not-modified", AppleRefusal.notModified.answer),
        .instead("incorrect-environment", AppleRefusal.incorrectEnvironment.answer),
        .instead("bad-payload", AppleRefusal.badPayload.answer),
        .instead("token-expired", AppleRefusal.tokenExpired.answer),
        .instead("token-other-team", AppleRefusal.tokenOtherTeam.answer),
        .instead("token-unknown-key", AppleRefusal.tokenUnknownKey.answer),
        .instead("not-found", AppleRefusal.noData.answer),
        .instead("throttled", AppleAnswer(status: 429, text: "Too Many Requests"), isBurst: true),
        .instead("throttled-retry-after", throttled, isBurst: true),
        .instead("server-error", AppleAnswer(status: 500, text: "Internal Server Error")),
        .instead("unavailable", AppleAnswer(status: 503, text: "Service Unavailable")),
        .instead("redirect", AppleAnswer(status: 307, headers: [("Location", "/v1/elsewhere")])),
        .instead("accepted", AppleAnswer(status: 202)),
    ]

    private static let throttled = AppleAnswer(
        status: 429,
        headers: [("Content-Type", "text/plain"), ("Retry-After", "2")],
        body: Array("Too Many Requests".utf8)
    )

    private static let bodies: [AppleFault] = [
        .instead("html", AppleAnswer(status: 200, headers: [("Content-Type", "text/html")], body: html)),
        .instead("empty", AppleAnswer(status: 200)),
        body("junk-base64", .unusable) { $0[$0.count / 2] = UInt8(ascii: "*") },
        body("url-safe-base64", .unusable) { $0 = Base64.encodeURL(Base64.decode($0) ?? []) },
        body("white-space", .receipt) { $0 = Array(" \r\n".utf8) + $0 + Array("\r\n\t ".utf8) },
        body("megabyte", .unusable) { $0 += [UInt8](repeating: UInt8(ascii: "\n"), count: 1 << 20) },
        AppleFault("dripping", .receipt, .answer { $0.delivery = .dripping }),
        AppleFault("cut", .unusable, .answer { $0.delivery = .cut(after: $0.body.count / 2) }),
    ]

    private static let html = Array("<html><head><title>Welcome</title></head><body>Sign in.</body></html>\n".utf8)

    private static func body(_ name: String, _ result: Result, _ edit: @escaping FaultEdit<[UInt8]>) -> AppleFault {
        AppleFault(name, result, .answer { edit(&$0.body) })
    }

    private static let receipts: [AppleFault] = [
        .exchange("same-receipt") { $0.answered = $0.sent },
        .exchange("older-receipt") { $0.facts.create(at: $0.content.createdAt - 86_400) },
        AppleFault(
            "leaf-of-other-key",
            .unusable,
            .exchange { exchange, ca, random in
                exchange.facts.leaf = Self.leaf(like: exchange, ca, seed: random.next())
            }
        ),
        .exchange("foreign-root") { $0.isForeign = true },
        .facts("other-token") { $0.token.reverse() },
        .facts("other-app") { $0.appID += Array(".other".utf8) },
        .facts("other-environment") {
            $0.environment = $0.environment == .production ? .development : .production
        },
        .facts("attest") { ($0.type, $0.notBefore, $0.riskMetric) = (.attest, nil, nil) },
        .facts("no-metric") { $0.riskMetric = nil },
        .facts("negative-metric") { $0.riskMetric = Array("-1".utf8) },
        .facts("long-metric") { $0.riskMetric = Array("1234567890123456".utf8) },
        .facts("too-old") { $0.create(at: $0.createdAt - 600) },
        .facts("from-future") { $0.create(at: $0.createdAt + 3_600) },
    ]

    /// The leaf of another key of the same app.
    private static func leaf(like exchange: AppleExchange, _ ca: LabCA, seed: UInt64) -> [UInt8] {
        let appID = String(decoding: exchange.facts.appID, as: UTF8.self)
        let device = FakeDevice(ca: ca, appID: appID, environment: exchange.facts.environment, seed: seed)
        return device.leaf(clientDataHash: exchange.facts.clientHash, at: exchange.content.createdAt)
    }
}
