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
    /// The app keeps no receipts.
    case riskOff
    /// The receipt has no risk metric, or another text than 1 to 9 digits.
    case receiptMetric
    /// A newer receipt of the key was accepted, or the key has attested again since.
    case receiptSuperseded
    /// The key's risk metric is greater than the app allows.
    case riskTooHigh
    /// No signing, sealing or challenge key is active: the only reason to defer.
    case noActiveKey

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
        case .riskOff: "risk-off"
        case .receiptMetric: "receipt:metric"
        case .receiptSuperseded: "receipt:superseded"
        case .riskTooHigh: "risk-too-high"
        case .noActiveKey: "no-active-key"
        }
    }

    /// Whether the verdict is `deferred`, not `refused`: the same request may be accepted later.
    package var isDeferral: Bool { self == .noActiveKey }
}

/// The coarse answer that a device may see (google.rpc.Status).
package struct Status: Hashable, Sendable {
    package let code: Int
    package let status: String
    package let message: ExactText

    package init(code: Int, status: String, message: ExactText) {
        (self.code, self.status, self.message) = (code, status, message)
    }

    package static let ok = Status(code: 200, status: "OK", message: "")
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
            .debugTokenExpired, .tokenInvalid, .sessionToken, .rolloutNotAdmitted, .attestationRate, .riskOff,
            .receiptMetric, .receiptSuperseded, .riskTooHigh, .noActiveKey,
        ]
    }
}

extension Reason {
    /// The answer for the device: coarse on purpose, the precise reason is in the result.
    ///
    /// - Parameter appID: the app or OAuth client as the path names it (``Request/appID``); for the message of
    ///   `unknown-method`.
    package func status(appID: ExactText?) -> Status {
        switch self {
        case .object, .unknownKey, .keyAlreadyBound, .banned, .counterNotGreater, .artifactInvalid, .challengeInvalid,
            .challengeExpired, .challengeConsumed, .debugTokenInvalid, .debugTokenExpired, .riskOff,
            .receiptMetric, .receiptSuperseded:
            Status(code: 403, status: "PERMISSION_DENIED", message: "App attestation failed.")
        case .tokenInvalid, .sessionToken:
            Status(code: 403, status: "PERMISSION_DENIED", message: "App Check token is invalid.")
        case .malformedRequest:
            Status(code: 400, status: "INVALID_ARGUMENT", message: "Request contains an invalid argument.")
        case .unknownMethod:
            Status(
                code: 400,
                status: "FAILED_PRECONDITION",
                message: appID.map { "App not registered: \($0)." } ?? "App not registered."
            )
        case .unknownApp:
            Status(code: 404, status: "NOT_FOUND", message: "Requested entity was not found.")
        case .rolloutNotAdmitted, .attestationRate, .riskTooHigh:
            // Never 403: the SDK reacts to it with a second attestation at once.
            Status(code: 429, status: "RESOURCE_EXHAUSTED", message: "Resource has been exhausted.")
        case .tooOld, .fromFuture, .keyMismatch, .noActiveKey, .challengeKeyUnknown, .challengeAhead,
            .sealingKeyUnknown:
            // Never 403: a file that has not arrived yet, or a gateway's clock, must not cost a device its key.
            Status(code: 503, status: "UNAVAILABLE", message: "The service is currently unavailable.")
        }
    }
}
