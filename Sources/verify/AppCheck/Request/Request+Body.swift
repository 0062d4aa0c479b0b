package import AppAttest
package import Crypto

extension Request {
    /// The content of a verb's body: a device's object and what binds it to this request, or a body without one.
    package enum Body: Sendable, Equatable {
        case generateChallenge
        case object(DeviceObject, Binding)
        /// The secret's hash; nil for a text that is not a random UUID.
        case debugToken(Digest?, limitedUse: Bool)
        /// The JWT's text.
        case verifyToken(token: [UInt8])
        /// What Apple answered, and when the receipt was made that it was exchanged for; nil = the body does not say.
        case receipt([UInt8], exchanged: EvaluationTime?)
    }

    /// The CBOR object that the device made.
    package enum DeviceObject: Sendable, Equatable {
        case attestation([UInt8])
        case assertion([UInt8])
    }

    /// The data that the device signed.
    package enum Binding: Sendable, Equatable {
        /// The caller's hash.
        case clientDataHash([UInt8])
        /// A challenge of the App Check exchange.
        case exchange(Exchange)
    }

    /// An App Check exchange without its object.
    package struct Exchange: Sendable, Equatable {
        /// The artifact of an assertion; nil for an attestation, which has none.
        package var artifact: [UInt8]?
        package var challenge: [UInt8]
        package var limitedUse: Bool
        /// Whether the body has the member: clients from before limited-use tokens do not.
        package var namesLimitedUse: Bool

        package init(artifact: [UInt8]? = nil, challenge: [UInt8], limitedUse: Bool?) {
            (self.artifact, self.challenge) = (artifact, challenge)
            self.limitedUse = limitedUse ?? false
            namesLimitedUse = limitedUse != nil
        }
    }

    /// The verb's object where it is an attestation.
    package var attestation: [UInt8]? {
        if case .object(.attestation(let object), _) = body { object } else { nil }
    }

    /// The verb's object where it is an assertion.
    package var assertion: [UInt8]? {
        if case .object(.assertion(let object), _) = body { object } else { nil }
    }
}
