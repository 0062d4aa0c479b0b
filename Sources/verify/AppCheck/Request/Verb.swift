internal import AppAttest

/// The verbs of the REST contract that are served, and our own three.
package enum Verb: String, Sendable, CaseIterable {
    case generateAppAttestChallenge
    case exchangeAppAttestAttestation
    case exchangeAppAttestAssertion
    case exchangeDebugToken
    case verifyAppCheckToken
    case verifyAttestation
    case verifyAssertion
    case verifyReceipt

    /// The verb's row: the stages, the gateway and the simulator read it and name no verb.
    private var row: Row {
        switch self {
        case .generateAppAttestChallenge: Row(on: .app, brings: .nothing, key: .absent, answer: .token)
        case .exchangeAppAttestAttestation:
            Row(on: .app, brings: .attestation, key: .keyID, mints: .device, answer: .token)
        case .exchangeAppAttestAssertion:
            Row(on: .app, brings: .assertion, key: .artifact, mints: .device, answer: .token)
        case .exchangeDebugToken: Row(on: .app, brings: .debugToken, key: .absent, mints: .debug, answer: .token)
        case .verifyAppCheckToken: Row(on: .project, brings: .appCheckToken, key: .tokenID, answer: .response)
        case .verifyAttestation: Row(on: .app, brings: .attestation, key: .keyID, answer: .result)
        case .verifyAssertion: Row(on: .app, brings: .assertion, key: .keyID, answer: .result)
        case .verifyReceipt: Row(on: .app, brings: .receipt, key: .keyID, answer: .result)
        }
    }

    private struct Row {
        let on: Resource
        let brings: Content
        let key: KeySource
        var mints: Token?
        let answer: Answer
    }

    /// The kind of resource that the path names.
    package enum Resource: Sendable { case app, project }

    /// The part of the body that is judged.
    package enum Content: Sendable { case nothing, attestation, assertion, debugToken, appCheckToken, receipt }

    /// The member of the body that the record's key follows from.
    package enum KeySource: Sendable { case absent, keyID, artifact, tokenID }

    /// The kind of token that an app gets: for a device's object, or for the secret of a simulator or a CI job.
    package enum Token: Sendable { case device, debug }

    /// The source of an accepted request's answer.
    package enum Answer: Sendable {
        /// The record on the tokens topic.
        case token
        /// The result's `response`.
        case response
        /// The whole result.
        case result
    }

    package var resource: Resource { row.on }
    package var content: Content { row.brings }
    package var keySource: KeySource { row.key }
    package var token: Token? { row.mints }
    package var answer: Answer { row.answer }

    /// Whether an app gets a token for an object.
    package var isExchange: Bool { token == .device }

    /// Whether an app gets a token: events report these verbs, failures too.
    package var hasEvents: Bool { token != nil }

    /// Whether the answer to a refused request names the reason: the caller is a trusted backend, never a device. These
    /// verbs are our own.
    package var tellsReason: Bool { answer == .result }

    /// Whether the gateway serves it to verifiers alone: devices have no credentials, and a caller can use up a token.
    package var isVerifiers: Bool { answer != .token }

    package var bringsAttestation: Bool { content == .attestation }
    package var bringsAssertion: Bool { content == .assertion }

    /// nil for a verb that is not served, however long or strange.
    init?(name: ExactText) {
        guard let verb = Self.allCases.first(where: { name.utf8.elementsEqual($0.rawValue.utf8) }) else {
            return nil
        }
        self = verb
    }
}
