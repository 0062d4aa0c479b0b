internal import AppAttest
internal import AppCheck
internal import Crypto

/// Checks of a request against the ledger, the gates and an operator's bans.
extension Comparison {
    static func ban(_ ban: Ban?) -> Comparison {
        let subject = ban?.kind == .key ? "the key" : "the installation"
        let until = ban?.until.map { ", until \(ReportValue.time($0))" } ?? ""
        let presented = ban.map { "\(subject), since \(ReportValue.time($0.since))\(until)" } ?? "none"
        return Comparison("ban", presented, expected: "none, of the key or of the installation")
    }

    static func age(of command: OperatorCommand) -> Comparison {
        let minutes = OperatorCommand.lifeMilliseconds / 60_000
        let ahead = SecretRing<ChallengeKey>.toleranceMilliseconds / 60_000
        let expected = "within \(minutes) min before the stream time, or \(ahead) min after it"
        return Comparison("issued at", .time(command.issuedAt), expected: .text(expected))
    }

    static func firstUse(of evidence: AttestationEvidence) -> Comparison {
        Comparison("nonce", .bytes(evidence.nonce.bytes), expected: .text("not the last attestation's"))
    }

    static func order(_ issued: IssueTime, after last: IssueTime) -> Comparison {
        func text(_ issued: IssueTime) -> String { "\(ReportValue.time(issued.notBefore)), serial \(issued.serial)" }
        return Comparison(
            "leaf",
            "issued \(text(issued))",
            expected: "not before the last accepted one: \(text(last))"
        )
    }

    static func counter(_ counter: UInt32, _ known: KeyCounters, window: Int) -> Comparison {
        let skipped = known.skippedCounters.filter { known.accepts($0, window: window) }.map { "\($0)" }
        let rest = skipped.isEmpty ? "" : ", or skipped: \(skipped.joined(separator: ", "))"
        return Comparison("counter", .number(Int64(counter)), expected: .text("greater than \(known.highest)\(rest)"))
    }

    static func storedKey(
        _ isKnown: Bool,
        isRestored: Bool,
        _ artifact: Result<Artifact, Reason>?,
        _ policy: UnknownKeyPolicy
    ) -> Comparison {
        let expected = "a key in the ledger" + (policy == .restore ? ", or in the request's artifact" : "")
        let rest = artifact == nil ? " nor in an artifact" : ", and unknownKeys is \(policy.rawValue)"
        let presented = isRestored ? "in the artifact" : isKnown ? "in the ledger" : "neither in the ledger" + rest
        return Comparison("key", presented, expected: expected)
    }

    static func rollout(_ decision: RolloutDecision) -> Comparison {
        if let list = decision.list {
            return Comparison("test device", "in rollout.\(list.rawValue)", expected: "not in rollout.never")
        }
        let share = "bucket at most \(decision.parts), \(Rollout.percentText(decision.parts)) %"
        return Comparison(
            "rollout bucket",
            "bucket \(decision.bucket) of \(Rollout.whole)",
            expected: decision.parts > 0 ? share : "none: 0 %"
        )
    }

    static func rate(_ count: RateCount?, _ limit: Int, _ partitions: Int) -> Comparison {
        let count = count.map { "\($0.count) admitted since \(ReportValue.time($0.start))" } ?? "none admitted"
        let expected = "a place among \(limit) a second, shared by \(partitions) partitions"
        return Comparison("rate", count, expected: expected)
    }

    static func debugToken(_ hash: Digest?, _ known: DebugToken?, of app: RegisteredApp) -> Comparison {
        let presented = hash == nil ? "no random UUID" : known.map(\.name) ?? "another one"
        let names = "one of " + app.debugTokens.map(\.name).joined(separator: ", ")
        return Comparison("debug token", presented, expected: names)
    }
}
