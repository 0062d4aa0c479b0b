internal import AppCheck

/// Why `/v1/verify` did not let a call pass. Its sender learns no more than the status.
package enum VerifyRefusal: String, Sendable, CaseIterable {
    /// No token was sent.
    case none
    case malformed, key, signature, claims, expired, ahead
    /// No app that may have such a token, or none that the proxy asks for.
    case app
    /// The token was used before.
    case consumed
    /// The worker refused to use it up.
    case verdict
    /// A call that uses tokens up without a verifier's credentials.
    case credentials
    /// The proxy's own parameters are wrong, or too few.
    case parameters

    init(_ fault: TokenFault) {
        self =
            switch fault {
            case .malformed: .malformed
            // No key of a public set is absent.
            case .unknownKey, .absentKey, .algorithm: .key
            case .signature: .signature
            case .issuer, .audience, .claims: .claims
            case .expired: .expired
            case .ahead: .ahead
            case .app: .app
            }
    }
}
