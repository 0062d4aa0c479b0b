package import AppAttest
internal import JSON

/// A REST call of the SDK, and the record that a gateway makes of it.
package struct StockCall: Sendable, Equatable {
    package enum Kind: Sendable, Equatable, CaseIterable {
        /// A challenge for a key that has no artifact yet: an attestation will follow.
        case challengeForAttestation
        case challengeForAssertion
        case attestation
        case assertion

        var verb: String {
            switch self {
            case .challengeForAttestation, .challengeForAssertion: "generateAppAttestChallenge"
            case .attestation: "exchangeAppAttestAttestation"
            case .assertion: "exchangeAppAttestAssertion"
            }
        }
    }

    package let kind: Kind
    /// The path with the leading slash, without host.
    package let path: String
    /// JSON as the SDK writes it; nil = the empty body of a challenge call.
    package let body: [UInt8]?
    /// The key whose text becomes the record key; nil for a challenge, which needs none.
    package let keyID: KeyID?
    package let installationID: String

    package var verb: String { kind.verb }

    /// The headers that the gateway adds to the record: `installation-id` always, `handshake` where an attestation will
    /// follow the challenge.
    package var headers: [(name: String, value: String)] {
        let handshake = kind == .challengeForAttestation ? [(name: "handshake", value: "attestation")] : []
        return [(name: "installation-id", value: installationID)] + handshake
    }

    /// The request record's value: `path`, and `body` unchanged if there is one.
    package var value: [UInt8] { Self.record(path: path, body: body) }

    package static func record(path: String, body: [UInt8]?) -> [UInt8] {
        var json = JSONWriter(capacity: 128 + path.utf8.count + (body?.count ?? 0))
        json.beginObject()
        json.member("path", path)
        if let body { json.member("body", raw: body) }
        json.endObject()
        return json.takeBytes()
    }
}
