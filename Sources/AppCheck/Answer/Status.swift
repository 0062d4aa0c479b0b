package import AppAttest

/// The coarse answer that a device may see (google.rpc.Status).
package struct Status: Hashable, Sendable {
    package let code: Int
    package let status: String
    package let message: ExactText

    package init(code: Int, status: String, message: ExactText) {
        self.code = code
        self.status = status
        self.message = message
    }

    package static let ok = Status(code: 200, status: "OK", message: "")
}

extension Reason {
    /// The answer for the device: coarse on purpose, the precise reason is in the result.
    ///
    /// - Parameter appID: the app or OAuth client as the path names it (``Request/appID``); for the message of
    ///   `unknown-method`.
    package func status(appID: ExactText?) -> Status {
        switch self {
        case .object, .unknownKey, .keyAlreadyBound, .banned, .counterNotGreater, .artifactInvalid, .challengeInvalid,
            .challengeExpired, .challengeConsumed, .debugTokenInvalid, .debugTokenExpired:
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
        case .rolloutNotAdmitted, .attestationRate:
            // Never 403: the SDK reacts to it with a second attestation at once.
            Status(code: 429, status: "RESOURCE_EXHAUSTED", message: "Resource has been exhausted.")
        case .tooOld, .fromFuture, .keyMismatch, .noActiveKey, .challengeKeyUnknown, .challengeAhead,
            .sealingKeyUnknown:
            // Never 403: a file that has not arrived yet, or a gateway's clock, must not cost a device its key.
            Status(code: 503, status: "UNAVAILABLE", message: "The service is currently unavailable.")
        }
    }
}
