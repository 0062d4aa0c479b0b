internal import AppAttest

extension Reason: CaseIterable {
    /// Checks of objects first.
    package static var allCases: [Reason] {
        Refusal.allCases.map { .object($0) } + [
            .malformedRequest, .unknownMethod, .unknownApp, .keyMismatch, .tooOld, .fromFuture, .unknownKey,
            .keyAlreadyBound, .banned, .counterNotGreater, .artifactInvalid, .sealingKeyUnknown, .challengeInvalid,
            .challengeKeyUnknown, .challengeExpired, .challengeAhead, .challengeConsumed, .debugTokenInvalid,
            .debugTokenExpired, .tokenInvalid, .sessionToken, .rolloutNotAdmitted, .attestationRate, .noActiveKey,
        ]
    }
}
