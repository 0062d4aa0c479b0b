internal import AppAttest
internal import AppCheck

/// The worker's own challenge and artifact in a request. None of their bytes is shown.
extension Comparison {
    static func seal(
        ofArtifact bytes: [UInt8],
        _ opened: Result<Artifact, Reason>,
        _ ring: SealingKeyRing
    ) -> Comparison {
        let known = ring.keys.map { "\(ReportValue.bytes($0.id.bytes))" }
        let expected = known.isEmpty ? "a listed key; none is" : "one of " + known.joined(separator: ", ")
        guard let id = Artifact.sealingKeyID(of: bytes) else {
            return Comparison("artifact's key", "no artifact: \(Counted.text(bytes.count, "byte"))", expected: expected)
        }
        let isChanged = ring[id] != nil && (try? opened.get()) == nil
        let presented = "sealed under key \(ReportValue.bytes(id.bytes))" + (isChanged ? ", changed since" : "")
        return Comparison("artifact's key", presented, expected: expected)
    }

    /// The app for which a challenge was sealed, or the reason why that is not known.
    static func seal(
        of challenge: [UInt8],
        isValid: Bool,
        for app: String,
        _ settings: PipelineSettings
    ) -> Comparison {
        let ring = settings.exchange.keys.challenges
        let presented: String
        if let claimed = UnverifiedChallenge(challenge) {
            let owner = settings.registry.apps.first { app in
                if case .success = ring.authenticate(challenge, app: app.name) { return true }
                return false
            }
            let known = owner.map { " for \($0.name)" } ?? ", changed since, or for no configured app"
            let key = "by key \(ReportValue.bytes(claimed.keyID.bytes))"
            presented = key + (ring[claimed.keyID] == nil ? ", which is not listed" : known)
        } else {
            presented = "none: \(Counted.text(challenge.count, "byte")) of another form"
        }
        return Comparison("challenge's seal", presented, expected: "by a listed key for \(app)")
    }

    static func challengeAge(_ issuedAt: EvaluationTime, ttl: Int64, at streamTime: EvaluationTime) -> Comparison {
        let (age, overflow) = streamTime.milliseconds.subtractingReportingOverflow(issuedAt.milliseconds)
        let text = overflow ? "beyond all calendars" : "\(seconds(age)) s old"
        let ahead = SecretRing<ChallengeKey>.toleranceMilliseconds
        return Comparison(
            "challenge's age",
            "\(text), issued \(ReportValue.time(issuedAt))",
            expected: "less than \(seconds(ttl)) s, at most \(seconds(ahead)) s ahead, "
                + "at the stream time \(ReportValue.time(streamTime))"
        )
    }

    private static func seconds(_ milliseconds: Int64) -> String {
        let (whole, rest) = milliseconds.quotientAndRemainder(dividingBy: 1000)
        guard rest != 0 else { return "\(whole)" }
        let digits = String(1000 + rest.magnitude).dropFirst()
        return (milliseconds < 0 && whole == 0 ? "-" : "") + "\(whole).\(digits)"
    }

    static func use(ofChallenge used: ConsumedID?) -> Comparison {
        let presented = used.map { "used; remembered until \(ReportValue.time($0.expiresAt))" } ?? "not used"
        return Comparison("challenge's use", presented, expected: "not used with this key")
    }
}
