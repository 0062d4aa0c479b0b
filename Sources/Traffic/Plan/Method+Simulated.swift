internal import AppCheck

extension Method {
    var isAttestation: Bool { self == .verifyAttestation || self == .exchangeAppAttestAttestation }

    /// Whether an app's SDK calls it, so that a gateway knows the installation.
    var isClientExchange: Bool {
        switch self {
        case .generateAppAttestChallenge, .exchangeAppAttestAttestation, .exchangeAppAttestAssertion: true
        case .verifyAppCheckToken, .verifyAttestation, .verifyAssertion: false
        }
    }
}
