package import AppAttest
internal import JSON

/// What a token says of itself, read without any check: evidence of nothing, to tell whose token it is.
package struct ClaimedToken: Sendable {
    private static let mostAudiences = 4
    private static let mostBytes = 128

    package let kid: ExactText?
    package let issuer: ExactText?
    package let audiences: [ExactText]
    package let expiresAt: Int64?

    /// - Returns: nil for what does not have a token's form.
    package init?(_ token: [UInt8]) {
        guard let token = UnverifiedToken(token) else { return nil }
        let audience = token.payload["aud"]
        kid = Self.text(token.header["kid"])
        issuer = Self.text(token.payload["iss"])
        let named = audience.map { $0.kind == .array ? Array($0.elements.prefix(Self.mostAudiences)) : [$0] }
        audiences = (named ?? []).compactMap { Self.text($0) }
        expiresAt = token.payload["exp"]?.integer
    }

    /// A text, cut before the character that passes the limit.
    private static func text(_ node: JSONNode?) -> ExactText? {
        guard let bytes = node?.stringBytes else { return nil }
        guard bytes.count > mostBytes else { return ExactText(validating: bytes) }
        let end = bytes[...mostBytes].lastIndex { $0 & 0xC0 != 0x80 } ?? 0
        return ExactText(validating: Array(bytes[..<end]))
    }
}

/// A token explained: its members as claimed, and each check that a verifier makes.
package struct TokenInspection: Sendable {
    package let fields: [ReportField]
    package let checks: [TracedCheck]

    /// - Parameters:
    ///   - verifier: nil = the form alone is judged.
    ///   - registry: judged is the token of the project that it names as its issuer, else of the first.
    package init(_ token: [UInt8], by verifier: TokenVerifier?, in registry: Registry, at time: EvaluationTime) {
        let (unverified, trace) = (UnverifiedToken(token), CheckTrace())
        let issuer = unverified?.payload["iss"]?.stringBytes ?? []
        let apps = registry.apps
        let app = apps.first { TokenVerifier.isIssuer(issuer, $0.projectNumber) } ?? apps.first
        _ = (verifier ?? TokenVerifier(publicKeys: VerificationKeys()))
            .judge(token, projectNumber: app?.projectNumber ?? "", of: registry, at: time, trace)
        fields = unverified.map(Self.fields) ?? []
        let isJudged = verifier != nil || unverified == nil
        let made = (unverified == nil ? [] : [TracedCheck("form", .passed)]) + (isJudged ? trace.checks : [])
        let others = CheckNames.token.filter { name in !made.contains { $0.name == name } }
        checks = made + others.map { TracedCheck($0, isJudged ? .notReached : .notJudged(nil)) }
    }

    private static func fields(_ token: UnverifiedToken) -> [ReportField] {
        let members = [("header", token.header), ("claims", token.payload)].flatMap { part, node in
            node.members.map { ReportField(name: "\(part).\(ExactText(validating: $0.name) ?? "?")", value: value($0)) }
        }
        guard let issuedAt = token.payload["iat"]?.integer, let end = token.payload["exp"]?.integer else {
            return members
        }
        let times = TokenTimes(issuedAt: issuedAt, expiresAt: end)
        let kind = times.isLimitedUse ? "limited use" : times.isSession ? "a session token" : "no token of a worker"
        return members + [ReportField(name: "life", value: .text("\(end.clampedSubtracting(issuedAt)) s: \(kind)"))]
    }

    private static func value(_ member: JSONMember) -> ReportValue {
        let isTime = ["exp", "iat", "nbf"].contains { member.name.elementsEqual($0.utf8) }
        guard isTime, let seconds = member.value.integer else { return .text(TokenVerifier.text(member.value)) }
        let time = EvaluationTime(seconds: seconds)
        guard EvaluationTime.writable.contains(time.milliseconds) else { return .number(seconds) }
        return .text("\(seconds) (\(ReportValue.time(time)))")
    }
}

extension CheckNames {
    /// The checks of a token, in the order in which they are made.
    package static let token = [
        "kid", "typ", "crit", "alg", "signature", "iss", "aud", "provider", "exp", "iat", "sub",
    ]
}
