package import AppAttest

/// The verbs of the REST contract and our two.
package enum Method: String, Sendable, CaseIterable {
    case generateAppAttestChallenge
    case exchangeAppAttestAttestation
    case exchangeAppAttestAssertion
    case verifyAppCheckToken
    case verifyAttestation
    case verifyAssertion
}

/// A request whose shape is known: path resolved, bodies decoded from base64, nothing verified.
package struct Request: Sendable {
    package enum Body: Sendable, Equatable {
        case verifyAttestation(attestation: [UInt8], clientDataHash: [UInt8])
        case verifyAssertion(assertion: [UInt8], clientDataHash: [UInt8])
    }

    /// As received.
    package var path: String
    /// Index into the registry's apps.
    package var app: Int
    package var method: Method
    package var keyID: KeyID
    package var body: Body

    package init(path: String, app: Int, method: Method, keyID: KeyID, body: Body) {
        self.path = path
        self.app = app
        self.method = method
        self.keyID = keyID
        self.body = body
    }
}

/// What Decode makes of a record's value.
package enum RequestDecoding: Sendable {
    case request(Request)
    /// `path` as it may be echoed, `keyID` where the body names a readable one.
    case refused(Reason, path: String, keyID: KeyID?, status: Status)
    case deadLetter(DeadLetterReason)
}

/// What a request may measure, in bytes; configurable.
package struct RequestLimits: Sendable, Equatable {
    package var valueBytes = 65_536
    package var headerBytes = 8_192
    package var clientDataBytes = 32_768
    package var clientDataHashBytes = 1_024
    package var requestIDBytes = 128
    package init() {}
}
