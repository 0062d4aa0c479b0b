package import AppAttest

/// Why a request was refused or deferred: a failed check of the device's object, or one of the worker's own reasons.
package enum Reason: Error, Hashable, Sendable {
    case object(Refusal)
    case malformedRequest
    case unknownMethod
    case unknownApp
    case keyMismatch
    case tooOld
    case fromFuture
    case unknownKey
    case keyAlreadyBound
    case counterNotGreater
    case challengeConsumed

    /// The reason's name as it stands in results and summaries.
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
        case .counterNotGreater: "counter-not-greater"
        case .challengeConsumed: "challenge-consumed"
        }
    }
}
