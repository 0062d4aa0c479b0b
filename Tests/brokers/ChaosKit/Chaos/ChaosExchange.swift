internal import BrokerKit
package import Crypto
internal import JSON
package import Streams
internal import TestKit

/// The challenge or token that a request of the exchange consumes, read from its bytes.
package struct ChaosExchange: Hashable, Sendable {
    /// The verbs, as paths have them.
    package enum Verb: String, Sendable {
        case generateAppAttestChallenge, exchangeAppAttestAttestation, exchangeAppAttestAssertion, verifyAppCheckToken
    }

    package var verb: Verb
    /// SHA-256 of the request's value.
    package var value: Digest
    /// SHA-256 of the challenge of an attestation or assertion.
    package var challenge: Digest?
    /// The `jti` of the token that is checked. A run has one project.
    package var tokenID: String?

    /// Whether an accepted one has a record on the tokens topic.
    var isAnswered: Bool { verb != .verifyAppCheckToken }
    /// Whether there is an event of it.
    var isReported: Bool { verb == .exchangeAppAttestAttestation || verb == .exchangeAppAttestAssertion }
}

extension ChaosExchange {
    /// - Returns: nil for any other request.
    package init?(request value: [UInt8]?) {
        guard let value, let root = try? JSONDocument(parsing: value).root,
            let name = root["path"]?.string?.split(separator: ":").last, let verb = Verb(rawValue: String(name))
        else { return nil }
        let token = root["body"]?["app_check_token"]?.string
        self.init(
            verb: verb,
            value: SHA256.hash(value),
            challenge: root["body"]?["challenge"]?.base64Bytes.map { SHA256.hash($0) },
            tokenID: token.flatMap { ExchangeToken($0)?.id }
        )
    }
}

/// A record of the tokens topic.
package struct ChaosAnswer: Hashable, Sendable {
    package var written: RecordPlace
    package var requestID: String
    /// nil for a challenge.
    package var token: Token?

    /// A minted token's name and end.
    package struct Token: Hashable, Sendable {
        package var id: String
        /// Seconds since 1970.
        package var expiresAt: Int64?
    }
}

extension ChaosAnswer {
    /// - Throws: for anything but a challenge or token.
    package init(_ record: InboundRecord) throws {
        let root = try JSONDocument(parsing: record.value ?? []).root
        let text = (root["appCheckToken"] ?? root)["token"]?.string
        let token = text.flatMap { ExchangeToken($0) }
        guard let id = record.text(of: "request-id"), token != nil || root["challenge"] != nil else {
            throw ChaosOutcome.Unreadable(description: "no answer at \(record.partition)/\(record.offset)")
        }
        self.init(
            written: RecordPlace(record),
            requestID: id,
            token: token.map { Token(id: $0.id, expiresAt: $0.expiresAt) }
        )
    }
}

/// A record of the events topic.
package struct ChaosEvent: Hashable, Sendable {
    package var partition: Int32
    package var requestID: String
    /// The event's name, with the reason of a failure.
    package var name: String
}

extension ChaosEvent {
    /// What a worker reports of a request.
    init(of outcome: ChaosOutcome) {
        let name = outcome.reason.map { "AppAttestFailure \($0)" } ?? "AppAttestSuccess"
        self.init(partition: outcome.source.partition, requestID: outcome.requestID ?? "", name: name)
    }

    package init(_ record: InboundRecord) throws {
        let root = try JSONDocument(parsing: record.value ?? []).root
        guard let name = root["event"]?.string, let id = root["requestId"]?.string else {
            throw ChaosOutcome.Unreadable(description: "no event at \(record.partition)/\(record.offset)")
        }
        let reason = root["reason"]?.string
        self.init(partition: record.partition, requestID: id, name: reason.map { "\(name) \($0)" } ?? name)
    }
}
