package import AppCheck
package import DeviceLab

/// One record of a simulation without its bytes.
package struct SimulatedStep: Sendable {
    /// The fleet's step: device, time, and the kind of its object.
    package let step: FleetStep
    package let verb: Method
    package let fault: SimulatedFault?
    /// The counter in an assertion.
    package let counter: UInt32
    /// The earlier record that this one repeats: an assertion again, or a token's second use.
    package let repeats: Int?
}

/// The fault of a simulated record.
package enum SimulatedFault: Hashable, Sendable {
    /// A fault in the device's object, or a replay.
    case object(FleetFault)
    /// A fault around the object.
    case exchange(ExchangeFault)
}

/// Faults of an exchange whose device object is right.
package enum ExchangeFault: String, CaseIterable, Sendable {
    case challengeAltered, challengeExpired, challengeOfOtherApp
    case artifactAltered, artifactOfOtherApp
    case tokenAltered, tokenExpired, tokenOfOddLife, tokenOfOtherProject
    case unknownApp

    var expected: Reason {
        switch self {
        case .challengeAltered, .challengeOfOtherApp: .challengeInvalid
        case .challengeExpired: .challengeExpired
        case .artifactAltered, .artifactOfOtherApp: .artifactInvalid
        case .tokenAltered, .tokenExpired, .tokenOfOddLife, .tokenOfOtherProject: .tokenInvalid
        case .unknownApp: .unknownApp
        }
    }

    /// The faults that a verb's requests can have.
    ///
    /// - Parameter judgesChallenges: false where the gateway makes the challenges.
    static func pool(_ verb: Method, judgesChallenges: Bool) -> [ExchangeFault] {
        let challenges: [ExchangeFault] =
            judgesChallenges ? [.challengeAltered, .challengeExpired, .challengeOfOtherApp] : []
        return switch verb {
        case .exchangeAppAttestAttestation: challenges + [.unknownApp]
        case .exchangeAppAttestAssertion: challenges + [.artifactAltered, .artifactOfOtherApp, .unknownApp]
        case .verifyAppCheckToken: [.tokenAltered, .tokenExpired, .tokenOfOddLife, .tokenOfOtherProject, .unknownApp]
        case .generateAppAttestChallenge: [.unknownApp]
        case .exchangeDebugToken, .verifyAttestation, .verifyAssertion: []
        }
    }
}
