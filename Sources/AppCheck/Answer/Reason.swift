package import AppAttest

/// Why a request was refused or deferred: a failed check of the device's object, or one of the worker's own reasons.
package enum Reason: CheckFailure, Hashable, Sendable {
    case object(Refusal)
    case malformedRequest
    case unknownMethod
    case unknownApp
    case keyMismatch
    case tooOld
    case fromFuture
    case unknownKey
    case keyAlreadyBound
    /// An operator refuses the key, or the installation that the request carries.
    case banned
    case counterNotGreater
    case artifactInvalid
    /// The artifact names a sealing key that is not listed: its file may not have arrived here yet.
    case sealingKeyUnknown
    case challengeInvalid
    /// The challenge names a challenge key that is not listed, likewise.
    case challengeKeyUnknown
    case challengeExpired
    /// One of our keys sealed the challenge for a time to come: the clock of the gateway that made it is wrong.
    case challengeAhead
    case challengeConsumed
    /// No debug token of the app has this secret.
    case debugTokenInvalid
    case debugTokenExpired
    case tokenInvalid
    /// The app's session tokens must not be used up.
    case sessionToken
    case rolloutNotAdmitted
    case attestationRate
    /// No signing, sealing or challenge key is active: the only reason to defer.
    case noActiveKey

    /// The reason's name in results and summaries.
    package var code: String {
        switch self {
        case .object(let refusal): refusal.code
        case .malformedRequest: "malformed-request"
        case .unknownMethod: "unknown-method"
        case .unknownApp: "unknown-app"
        case .keyMismatch: "key-mismatch"
        case .tooOld: "too-old"
        case .fromFuture: "from-future"
        case .unknownKey: "unknown-key"
        case .keyAlreadyBound: "key-already-bound"
        case .banned: "banned"
        case .counterNotGreater: "counter-not-greater"
        case .artifactInvalid: "artifact-invalid"
        case .sealingKeyUnknown: "sealing-key-unknown"
        case .challengeInvalid: "challenge-invalid"
        case .challengeKeyUnknown: "challenge-key-unknown"
        case .challengeExpired: "challenge-expired"
        case .challengeAhead: "challenge-ahead"
        case .challengeConsumed: "challenge-consumed"
        case .debugTokenInvalid: "debug-token-invalid"
        case .debugTokenExpired: "debug-token-expired"
        case .tokenInvalid: "token-invalid"
        case .sessionToken: "session-token"
        case .rolloutNotAdmitted: "rollout-not-admitted"
        case .attestationRate: "attestation-rate"
        case .noActiveKey: "no-active-key"
        }
    }

    /// Whether the verdict is `deferred`, not `refused`: the same request may be accepted later.
    package var isDeferral: Bool { self == .noActiveKey }
}

/// The reason why a record that is not a request goes to the dead letters.
package enum DeadLetterReason: String, CheckFailure, Hashable, CaseIterable {
    case nullValue = "null-value"
    case tooLarge = "too-large"
    case badHeaders = "bad-headers"
    case notJSON = "not-json"
    case noPath = "no-path"
    /// A bug of ours on this record.
    case `internal`

    package var code: String { rawValue }
}

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
