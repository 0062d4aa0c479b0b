extension Request {
    /// What a verb's body holds: a device's object and what binds it to this request, or one of two bodies without one.
    package enum Body: Sendable, Equatable {
        case generateChallenge
        case object(DeviceObject, Binding)
        /// The JWT's text.
        case verifyToken(token: [UInt8])
    }

    /// What the device made, CBOR.
    package enum DeviceObject: Sendable, Equatable {
        case attestation([UInt8])
        case assertion([UInt8])
    }

    /// What the device signed.
    package enum Binding: Sendable, Equatable {
        /// The caller's hash.
        case clientDataHash([UInt8])
        /// A challenge of the App Check exchange.
        case exchange(Exchange)
    }

    /// An App Check exchange without its object.
    package struct Exchange: Sendable, Equatable {
        /// Of an assertion; nil for an attestation, which has none.
        package var artifact: [UInt8]?
        package var challenge: [UInt8]
        package var limitedUse: Bool

        package init(artifact: [UInt8]? = nil, challenge: [UInt8], limitedUse: Bool) {
            self.artifact = artifact
            self.challenge = challenge
            self.limitedUse = limitedUse
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

    /// nil for a verb outside the exchange.
    package var exchange: Exchange? {
        if case .object(_, .exchange(let exchange)) = body { exchange } else { nil }
    }

    /// Whether an exchange asks for a limited-use token; nil for a verb outside the exchange.
    package var limitedUse: Bool? { exchange?.limitedUse }
}
