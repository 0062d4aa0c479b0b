internal import AppAttest
internal import AppCheck
internal import HTTP

/// A call on its way through the gateway.
struct IncomingCall {
    let http: HTTPCall
    let target: CallTarget
    let caller: Caller
    let rules: GatewayRules
    let responder: any HTTPResponder
    let since: Int64
    var verb = GatewayVerb.other

    /// The same call with what it asks for, where that is known.
    func asking(for verb: Verb?) -> Self {
        var call = self
        call.verb = verb.map { .exchange($0) } ?? .other
        return call
    }

    /// Whether a refusal names its reason to the caller.
    var tellsReason: Bool { if case .exchange(let named) = verb { named.tellsReason } else { false } }

    func hasMethod(of verb: GatewayVerb) -> Bool { verb.methods.contains { http.method.elementsEqual($0.utf8) } }

    /// The header that an app's own hook sends.
    var installationID: ExactText? {
        guard let id = http.values("x-installation-id").last, (1...256).contains(id.count) else { return nil }
        return ExactText(validating: id)
    }

    /// Whether the challenge is for an attestation.
    var isAttestationHandshake: Bool {
        http.values("x-app-attest-handshake").last?.elementsEqual("attestation".utf8) ?? false
    }

    var isOAuthClient: Bool {
        target.path.split(separator: UInt8(ascii: "/")).dropFirst().first?.elementsEqual("oauthClients".utf8) ?? false
    }
}
