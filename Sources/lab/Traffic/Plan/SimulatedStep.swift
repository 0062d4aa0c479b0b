internal import AppAttest
package import AppCheck
package import DeviceLab

/// One record of a simulation without its bytes.
package struct SimulatedStep: Sendable {
    /// The fleet's step: device, time, and the kind of its object.
    package let step: FleetStep
    package let verb: Verb
    package var fault: SimulatedFault?
    /// The counter in an assertion.
    package var counter: UInt32 = 0
    /// The earlier record that this one repeats: an assertion again, or a token's second use.
    package var repeats: Int?
}

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
    static func pool(_ verb: Verb, judgesChallenges: Bool) -> [ExchangeFault] {
        let challenges: [ExchangeFault] =
            judgesChallenges ? [.challengeAltered, .challengeExpired, .challengeOfOtherApp] : []
        return switch verb.content {
        case .attestation where verb.isExchange: challenges + [.unknownApp]
        case .assertion where verb.isExchange: challenges + [.artifactAltered, .artifactOfOtherApp, .unknownApp]
        case .appCheckToken: [.tokenAltered, .tokenExpired, .tokenOfOddLife, .tokenOfOtherProject, .unknownApp]
        case .nothing: [.unknownApp]
        case .debugToken, .receipt, .attestation, .assertion: []
        }
    }
}

/// The times at which the secrets of a simulated request were made.
enum ExchangeTimes {
    /// The time from a challenge's issue to the request that uses it, in milliseconds.
    private static let leadMilliseconds: Int64 = 200

    /// The time at which the challenge of a request was issued.
    static func issue(at time: EvaluationTime) -> EvaluationTime {
        EvaluationTime(milliseconds: time.milliseconds - leadMilliseconds)
    }

    /// The times of a limited-use token minted at a time.
    static func token(at time: EvaluationTime) -> TokenTimes {
        TokenTimes(at: time, limitedUse: true, settings: TokenSettings())
    }
}

extension Verb {
    /// The verbs that a device can call: a debug token needs no device.
    package static let simulated = allCases.filter { $0.token != .debug && $0.content != .receipt }
    /// The same with what Apple answers to a receipt, for apps that keep receipts.
    package static let simulatedWithReceipts = simulated + [.verifyReceipt]
}
