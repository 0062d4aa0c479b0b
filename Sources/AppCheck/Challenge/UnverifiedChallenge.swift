package import AppAttest

/// What a sealed challenge claims in its clear part, unverified.
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
