package import AppCheck

extension Method {
    /// The methods that a device can call: a debug token needs no device.
    package static let simulated = allCases.filter { $0 != .exchangeDebugToken }

    var isAttestation: Bool { self == .verifyAttestation || self == .exchangeAppAttestAttestation }

    /// Whether an app's SDK calls it, so that a gateway knows the installation.
    var isClientExchange: Bool {
        switch self {
        case .generateAppAttestChallenge, .exchangeAppAttestAttestation, .exchangeAppAttestAssertion: true
        case .exchangeDebugToken, .verifyAppCheckToken, .verifyAttestation, .verifyAssertion: false
        }
    }
}
