package import AppAttest
package import Crypto

/// A challenge that one of our keys sealed for this app and that has not expired.
package struct OpenedChallenge: Hashable, Sendable {
    package let issuedAt: EvaluationTime
    /// The stream time from which the challenge is `challenge-expired`, and its consumption may be forgotten.
    package let expiresAt: EvaluationTime
}

extension SecretRing<ChallengeKey> {
    /// How far ahead of the stream an issue time may lie: brokers' clocks differ, and partitions lag. The MAC proves
    /// the time, so this only bounds how long a challenge can live: its ttl and this.
    package static var toleranceMilliseconds: Int64 { 300_000 }

    /// - Parameters:
    ///   - app: ``RegisteredApp/name`` of the app that the request names.
    ///   - ttl: milliseconds from issue to expiry.
    ///   - streamTime: the highest evaluation time of the record's partition so far.
    package func open(
        _ challenge: [UInt8],
        app: String,
        ttl: Int64,
        at streamTime: EvaluationTime
    ) -> Result<OpenedChallenge, Reason> {
        authenticate(challenge, app: app).flatMap { OpenedChallenge.judge(issuedAt: $0, ttl: ttl, at: streamTime) }
    }

    /// The half of ``open(_:app:ttl:at:)`` that needs no state: whether one of our keys sealed it for this app, and when.
    package func authenticate(_ challenge: [UInt8], app: String) -> Result<EvaluationTime, Reason> {
        guard let claimed = UnverifiedChallenge(challenge) else { return .failure(.challengeInvalid) }
        guard !isAbsent(claimed.keyID) else { return .failure(.noActiveKey) }
        guard let key = self[claimed.keyID] else { return .failure(.challengeKeyUnknown) }
        let bytes = challenge.span
        let code = key.code(bytes.extracting(..<ChallengeKey.clearBytes), app: app)
        let isGenuine = code.withBytes {
            ConstantTime.areEqual($0, bytes.extracting(ChallengeKey.clearBytes...))
        }
        return isGenuine ? .success(claimed.issuedAt) : .failure(.challengeInvalid)
    }
}

extension OpenedChallenge {
    /// The other half: whether a genuine challenge is alive at a stream time.
    package static func judge(
        issuedAt: EvaluationTime,
        ttl: Int64,
        at streamTime: EvaluationTime
    ) -> Result<OpenedChallenge, Reason> {
        // Clamped for times and lives beyond all calendars.
        let horizon = streamTime.milliseconds.clampedAdding(SecretRing<ChallengeKey>.toleranceMilliseconds)
        guard issuedAt.milliseconds <= horizon else { return .failure(.challengeAhead) }
        let expiresAt = issuedAt.milliseconds.clampedAdding(ttl)
        guard streamTime.milliseconds < expiresAt else { return .failure(.challengeExpired) }
        return .success(OpenedChallenge(issuedAt: issuedAt, expiresAt: EvaluationTime(milliseconds: expiresAt)))
    }
}

/// The id that a consumed challenge is remembered by.
package enum ChallengeConsumption {
    /// SHA-256(challenge ‖ key ID): once per pair. The key ID has one length, so no two pairs share an id.
    package static func id(challenge: [UInt8], keyID: KeyID) -> Digest {
        keyID.digest.withBytes { SHA256.hash(challenge.span, $0) }
    }
}

/// The claims in the clear part of a sealed challenge, unverified.
package struct UnverifiedChallenge: Sendable {
    package let keyID: SealingKeyID
    package let issuedAt: EvaluationTime

    /// - Returns: nil for bytes that are not a sealed challenge.
    package init?(_ challenge: [UInt8]) {
        guard challenge.count == ChallengeKey.byteCount, challenge[0] == ChallengeKey.version else { return nil }
        let bytes = challenge.span
        let time = bytes.extracting(ChallengeKey.keyIDEnd..<ChallengeKey.timeEnd)
        guard let keyID = SealingKeyID(bytes.extracting(1..<ChallengeKey.keyIDEnd)),
            let milliseconds = BigEndian.read(time, ChallengeKey.timeBytes)
        else { return nil }
        self.keyID = keyID
        issuedAt = EvaluationTime(milliseconds: Int64(milliseconds))
    }
}
