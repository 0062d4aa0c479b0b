internal import AppAttest

/// The verbs of the REST contract that are served, and our own two.
package enum Method: String, Sendable, CaseIterable {
    case generateAppAttestChallenge
    case exchangeAppAttestAttestation
    case exchangeAppAttestAssertion
    case exchangeDebugToken
    case verifyAppCheckToken
    case verifyAttestation
    case verifyAssertion

    /// Whether an app gets a token for an object.
    package var isExchange: Bool { self == .exchangeAppAttestAttestation || self == .exchangeAppAttestAssertion }

    /// Whether an app gets a token: events report these verbs.
    package var hasEvents: Bool { isExchange || self == .exchangeDebugToken }

    /// Whether the answer to a refused request names the reason: the caller is a trusted backend, never a device.
    package var tellsReason: Bool { self == .verifyAttestation || self == .verifyAssertion }

    /// Whether the gateway serves it to verifiers alone: devices have no credentials, and a caller can use up a token.
    package var isVerifiers: Bool { tellsReason || self == .verifyAppCheckToken }

    package var bringsAttestation: Bool { self == .exchangeAppAttestAttestation || self == .verifyAttestation }
    package var bringsAssertion: Bool { self == .exchangeAppAttestAssertion || self == .verifyAssertion }

    /// nil for a verb that is not served, however long or strange.
    init?(verb: ExactText) {
        guard let method = Self.allCases.first(where: { verb.utf8.elementsEqual($0.rawValue.utf8) }) else {
            return nil
        }
        self = method
    }
}
