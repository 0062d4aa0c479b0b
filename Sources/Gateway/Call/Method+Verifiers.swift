internal import AppCheck

extension Method {
    /// Whether verifiers alone may ask for it: devices have no credentials, and whoever may verify a token may use it up.
    var isVerifiers: Bool {
        switch self {
        case .verifyAppCheckToken, .verifyAttestation, .verifyAssertion: true
        case .generateAppAttestChallenge, .exchangeAppAttestAttestation, .exchangeAppAttestAssertion,
            .exchangeDebugToken:
            false
        }
    }
}
